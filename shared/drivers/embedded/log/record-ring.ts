import type { PlacedRecord } from '../../../domain/messages/log-record.ts';

/** Limits the memory for records near the head of the log. */
const recordsMax = 10_000;
const bytesMax = 16 * 1024 * 1024;

/** Approximate overhead of a record besides its text. */
const recordOverheadBytes = 600;

/**
 * A ring of the newest committed records in offset order, so that consumers at the head need not read the table.
 * Limited in count and bytes.
 */
export class RecordRing {
  /** Entries before `#first` are removed. The array is truncated only occasionally, because that copies it. */
  #records: PlacedRecord[] = [];
  #first = 0;
  #bytes = 0;
  #floor: number;

  /** `floor` is the offset from which all records will be added. */
  constructor(floor: number) {
    this.#floor = floor;
  }

  /** All committed records from this offset are in the ring. */
  get floor(): number {
    return this.#floor;
  }

  /** Adds the next committed record; offsets must increase. */
  push(placed: PlacedRecord): void {
    this.#records.push(placed);
    this.#bytes += bytesOf(placed);
    while (this.#bytes > bytesMax || this.#records.length - this.#first > recordsMax) this.#evict();
    if (this.#first > recordsMax) {
      this.#records = this.#records.slice(this.#first);
      this.#first = 0;
    }
  }

  /** Returns at most `limit` records from the offset, in order. The offset must not be below `floor`. */
  from(offset: number, limit: number): PlacedRecord[] {
    let low = this.#first;
    let high = this.#records.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#records[middle]!.offset < offset) low = middle + 1;
      else high = middle;
    }
    return this.#records.slice(low, low + limit);
  }

  #evict(): void {
    const removed = this.#records[this.#first]!;
    this.#first += 1;
    this.#bytes -= bytesOf(removed);
    this.#floor = removed.offset + 1;
  }
}

function bytesOf({ record: { message } }: PlacedRecord): number {
  return recordOverheadBytes + 2 * (message.message.length + (message.title?.length ?? 0));
}
