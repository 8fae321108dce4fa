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

/** Rows between calls of `onProgress`. */
const rowsPerProgress = 10_000;

/** Returns the pages, adds their rows to the digest, and calls `onProgress` with the count of every 10,000 rows. */
export async function* digestPages(
  pages: AsyncIterable<readonly Row[]>,
  digest: RowsDigest,
  onProgress: (rows: number) => void,
): AsyncGenerator<readonly Row[], void> {
  let reported = 0;
  for await (const page of pages) {
    for (const row of page) digest.add(row);
    const { rows } = digest.sum;
    if (rows - reported >= rowsPerProgress) onProgress((reported = rows - (rows % rowsPerProgress)));
    yield page;
  }
}

/** Serializes to JSON with sorted keys. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, held: unknown) => {
    if (typeof held !== 'object' || held === null || Array.isArray(held)) return held;
    return Object.fromEntries(Object.entries(held).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
