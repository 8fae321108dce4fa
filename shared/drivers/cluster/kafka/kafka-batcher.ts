import { unavailable } from '../../../domain/errors.ts';
import type { KafkaRecord } from './kafka-record.ts';
import { NotAppended } from './not-appended.ts';

/** A record to send and its partition. */
export interface OutgoingRecord extends KafkaRecord {
  readonly partition: number;
}

/**
 * Sends records as one batch. Resolves with the broker offset of the first record of each partition, or with the error
 * of the partition. Rejects with NotAppended if no record was sent; after any other rejection the outcome of all is
 * unknown.
 */
export type SendRecords = (records: readonly OutgoingRecord[]) => Promise<ReadonlyMap<number, number | Error>>;

interface Waiting {
  readonly record: OutgoingRecord;
  readonly bytes: number;
  readonly resolve: (offset: number) => void;
  readonly reject: (error: unknown) => void;
}

/** Limits the memory for publishes while the brokers are silent. */
const waitingMax = 10_000;
const waitingBytesMax = 16 * 1024 * 1024;

/** Limited because kafkajs copies a partition's list for each added record, which is quadratic. */
const batchSizeMax = 1_000;
/** A partition's share of a request must stay below the broker's `message.max.bytes`, 1,048,588 by default. */
const partitionBytesMax = 900_000;
/** Size of headers, key and framing of a record, without its trace. */
const recordOverheadBytes = 320;
/** Size of the names and framing of the trace headers. */
const traceOverheadBytes = 32;

/**
 * Batches single appends: one batch is in flight at a time, and records that arrive meanwhile form the next one.
 * Batches grow with the load, an append to an idle log takes one round trip, and records keep the order of their
 * appends.
 */
export class KafkaBatcher {
  readonly #send: SendRecords;
  #waiting: Waiting[] = [];
  /** Queued and in-flight records and bytes. */
  #count = 0;
  #bytes = 0;
  /** When the batch in flight was sent, by `performance.now()`; undefined without one. */
  #sentAt: number | undefined;
  #isSending = false;
  #idle: PromiseWithResolvers<void> | undefined;

  constructor(send: SendRecords) {
    this.#send = send;
  }

  /** When the batch in flight was sent, by `performance.now()`; undefined without one. */
  get sentAt(): number | undefined {
    return this.#sentAt;
  }

  /**
   * Resolves with the record's broker offset. Rejects with NotAppended if the record is not in the log, or with
   * AppError `unavailable`; the outcome is then unknown.
   */
  append(record: OutgoingRecord): Promise<number> {
    const bytes = record.value.length + recordOverheadBytes + traceBytes(record);
    if (this.#count >= waitingMax || this.#bytes + bytes > waitingBytesMax) {
      return Promise.reject(unavailable('Log', new Error(`${this.#count} records are already queued`)));
    }
    this.#count += 1;
    this.#bytes += bytes;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ record, bytes, resolve, reject });
      if (this.#isSending) return;
      this.#isSending = true;
      setImmediate(() => void this.#sendAll()); // batches it with other records of this tick
    });
  }

  /** Rejects the queued records of these partitions with NotAppended. */
  evict(isMoved: (partition: number) => boolean): void {
    const moved = this.#waiting.filter(({ record }) => isMoved(record.partition));
    if (moved.length === 0) return;
    this.#waiting = this.#waiting.filter(({ record }) => !isMoved(record.partition));
    for (const { reject } of moved) reject(new NotAppended('the partition has another leader'));
    this.#release(moved);
  }

  /** Resolves when no records are queued or in flight. */
  drained(): Promise<void> {
    if (!this.#isSending) return Promise.resolve();
    this.#idle ??= Promise.withResolvers();
    return this.#idle.promise;
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#take();
      this.#sentAt = performance.now();
      try {
        settle(batch, await this.#send(batch.map(({ record }) => record)));
      } catch (error) {
        const refusal = error instanceof NotAppended ? error : unavailable('Log', error);
        for (const { reject } of batch) reject(refusal);
      }
      this.#sentAt = undefined;
      this.#release(batch);
      // Callers that waited for this batch may append again in this tick; the next batch includes their records.
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#isSending = false;
    this.#idle?.resolve();
    this.#idle = undefined;
  }

  #release(done: readonly Waiting[]): void {
    for (const { bytes } of done) this.#bytes -= bytes;
    this.#count -= done.length;
  }

  /** Removes the oldest queued records that fit into one request. */
  #take(): Waiting[] {
    const bytesOf = new Map<number, number>();
    let size = 0;
    for (const { record, bytes } of this.#waiting) {
      const total = (bytesOf.get(record.partition) ?? 0) + bytes;
      if (size > 0 && (size === batchSizeMax || total > partitionBytesMax)) break;
      bytesOf.set(record.partition, total);
      size += 1;
    }
    return this.#waiting.splice(0, size);
  }
}

function traceBytes({ headers: { traceparent, tracestate } }: OutgoingRecord): number {
  return traceparent === undefined ? 0 : traceOverheadBytes + traceparent.length + (tracestate?.length ?? 0);
}

/** Gives each record its offset: the records of a partition have consecutive offsets in batch order. */
function settle(batch: readonly Waiting[], outcomes: ReadonlyMap<number, number | Error>): void {
  const next = new Map(outcomes);
  for (const { record, resolve, reject } of batch) {
    const outcome = next.get(record.partition) ?? new Error(`no response for partition ${record.partition}`);
    if (typeof outcome !== 'number') {
      reject(outcome instanceof NotAppended ? outcome : unavailable('Log', outcome));
      continue;
    }
    next.set(record.partition, outcome + 1);
    resolve(outcome);
  }
}
