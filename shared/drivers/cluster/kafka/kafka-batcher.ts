import { unavailable } from '../../../domain/errors.ts';
import type { KafkaRecord } from './kafka-record.ts';

/** A record on its way to a partition. */
export interface OutgoingRecord extends KafkaRecord {
  readonly partition: number;
}

/** Sends records as one batch; resolves with the broker offset of the first record of each partition. */
export type SendRecords = (records: readonly OutgoingRecord[]) => Promise<ReadonlyMap<number, number>>;

interface Waiting {
  readonly record: OutgoingRecord;
  readonly bytes: number;
  readonly resolve: (offset: number) => void;
  readonly reject: (error: unknown) => void;
}

/** Harm prevented: while the brokers are silent for the length of a send's deadline, publishes must not fill the memory. */
const waitingMax = 10_000;
const waitingBytesMax = 16 * 1024 * 1024;

/** kafkajs copies a partition's list for each record it adds, so that the cost grows with the square. */
const batchSizeMax = 1_000;
/** A partition's share of a request must stay under the broker's `message.max.bytes`, 1,048,588 by default. */
const partitionBytesMax = 900_000;
/** Headers, key and framing of a record, but for its trace. */
const recordOverheadBytes = 320;
/** The names and framing of the trace's headers. */
const traceOverheadBytes = 32;

/**
 * Makes batches of single appends: one batch is under way at any time, and what arrives meanwhile is the next. So the
 * batches grow with the load, an idle log answers after one round trip, and records keep the order of their appends.
 */
export class KafkaBatcher {
  readonly #send: SendRecords;
  #waiting: Waiting[] = [];
  /** Records and bytes that are waiting or under way. */
  #count = 0;
  #bytes = 0;
  #isSending = false;
  #idle: PromiseWithResolvers<void> | undefined;

  constructor(send: SendRecords) {
    this.#send = send;
  }

  /** Resolves with the record's broker offset. Rejects with AppError `unavailable`; the outcome is then unknown. */
  append(record: OutgoingRecord): Promise<number> {
    const bytes = record.value.length + recordOverheadBytes + traceBytes(record);
    if (this.#count >= waitingMax || this.#bytes + bytes > waitingBytesMax) {
      return Promise.reject(unavailable('Log', new Error(`${this.#count} records are waiting already`)));
    }
    this.#count += 1;
    this.#bytes += bytes;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ record, bytes, resolve, reject });
      if (this.#isSending) return;
      this.#isSending = true;
      setImmediate(() => void this.#sendAll()); // with what else arrives in this turn of the loop
    });
  }

  /** Resolves when nothing is waiting or under way. */
  drained(): Promise<void> {
    if (!this.#isSending) return Promise.resolve();
    this.#idle ??= Promise.withResolvers();
    return this.#idle.promise;
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#take();
      try {
        settle(batch, await this.#send(batch.map(({ record }) => record)));
      } catch (error) {
        const refusal = unavailable('Log', error);
        for (const { reject } of batch) reject(refusal);
      }
      for (const { bytes } of batch) this.#bytes -= bytes;
      this.#count -= batch.length;
      // Those who waited for this batch append again in this turn, and shall be part of the next one.
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#isSending = false;
    this.#idle?.resolve();
    this.#idle = undefined;
  }

  /** The oldest waiting records, as many as one request may hold. */
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

/** The records of a partition got consecutive offsets, in their order in the batch. */
function settle(batch: readonly Waiting[], firstOffsets: ReadonlyMap<number, number>): void {
  const next = new Map(firstOffsets);
  for (const { record, resolve, reject } of batch) {
    const offset = next.get(record.partition);
    if (offset === undefined) {
      reject(unavailable('Log', new Error(`no answer for partition ${record.partition}`)));
      continue;
    }
    next.set(record.partition, offset + 1);
    resolve(offset);
  }
}
