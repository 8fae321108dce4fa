import { createHash } from 'node:crypto';
import type { Row } from '../../ports/installation-rows.ts';

/** The number of rows and an order-independent checksum. */
export interface RowsSum {
  readonly rows: number;
  readonly digest: string;
}

const modulus = 1n << 256n;

/**
 * Computes a digest of rows: the sum of the SHA-256 of each row's canonical JSON, modulo 2^256. Engines return rows in
 * different orders, and sorting millions of rows would be too expensive.
 */
export class RowsDigest {
  #rows = 0;
  #sum = 0n;

  add(row: Row): void {
    this.#rows += 1;
    this.#sum = (this.#sum + BigInt(`0x${createHash('sha256').update(canonicalJson(row)).digest('hex')}`)) % modulus;
  }

  get sum(): RowsSum {
    return { rows: this.#rows, digest: this.#sum.toString(16).padStart(64, '0') };
  }
}

/** Serializes to JSON with sorted keys. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, held: unknown) => {
    if (typeof held !== 'object' || held === null || Array.isArray(held)) return held;
    return Object.fromEntries(Object.entries(held).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
