import { createHash } from 'node:crypto';
import type { Row } from '../../ports/installation-rows.ts';

/** How many rows there were, and a checksum that does not depend on their order. */
export interface RowsSum {
  readonly rows: number;
  readonly digest: string;
}

const modulus = 1n << 256n;

/**
 * Sums up rows: the sum of the SHA-256 of each one's canonical JSON, modulo 2^256. Two engines have the same rows in another
 * order, and no engine would sort what may be millions for this alone.
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

/** JSON with the keys of every object in order. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, held: unknown) => {
    if (typeof held !== 'object' || held === null || Array.isArray(held)) return held;
    return Object.fromEntries(Object.entries(held).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
