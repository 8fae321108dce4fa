import type { PlacedRecord } from '../../../domain/messages/log-record.ts';

/** Harm prevented: what consumers at the head read from memory must not grow with the publish rate. */
const recordsMax = 10_000;
const bytesMax = 16 * 1024 * 1024;

/** What a record takes beside its text, roughly: the objects, ids and numbers. */
const recordOverheadBytes = 600;

/**
 * The newest committed records in order of position, so that consumers at the head need not read back what was just
 * written. Bounded in count and bytes; whoever is further behind reads the table.
 */
export class RecordRing {
  /** Entries before `#first` are gone; they are cut off in one go now and then, since shifting costs a copy each. */
  #records: PlacedRecord[] = [];
  #first = 0;
  #bytes = 0;
  #floor: number;

  /** `floor`: the position from which on every record will be pushed. */
  constructor(floor: number) {
    this.#floor = floor;
  }

  /** Every committed record at or above this position is in the ring. */
  get floor(): number {
    return this.#floor;
  }

  /** Takes the next committed record; its position is above those before it. */
  push(placed: PlacedRecord): void {
    this.#records.push(placed);
    this.#bytes += bytesOf(placed);
    while (this.#bytes > bytesMax || this.#records.length - this.#first > recordsMax) this.#evict();
    if (this.#first > recordsMax) {
      this.#records = this.#records.slice(this.#first);
      this.#first = 0;
    }
  }

  /** At most `limit` records from the position on, in order; the position is not below `floor`. */
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
    const gone = this.#records[this.#first]!;
    this.#first += 1;
    this.#bytes -= bytesOf(gone);
    this.#floor = gone.offset + 1;
  }
}

function bytesOf({ record: { message } }: PlacedRecord): number {
  return recordOverheadBytes + 2 * (message.message.length + (message.title?.length ?? 0));
}
