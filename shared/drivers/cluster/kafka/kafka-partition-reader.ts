import type { KafkaMessage } from 'kafkajs';
import type { PlacedRecord } from '../../../domain/messages/log-record.ts';
import type { Logger } from '../../../platform/logger.ts';
import { untilDone } from '../../../async/until-done.ts';
import type { ConsumeOptions } from '../../../ports/event-log.ts';
import { decodeKafkaRecord } from './kafka-record.ts';

export interface ReaderOptions {
  readonly partition: number;
  /** The base added to broker offsets. */
  readonly base: number;
  readonly consume: ConsumeOptions;
  readonly log: Logger;
  /** Called with the group's next broker offset after a batch is handled. */
  readonly onHandled: (nextOffset: number) => void;
}

const batchSizeDefault = 1_000;
/**
 * The maximum number of prefetched records: enough to keep the handler busy, few enough to hold a dozen partitions in
 * memory.
 */
const bufferedBytesMax = 1024 * 1024;

/**
 * Reads one assigned partition: buffers fetched records and passes them to the handler in order, one batch at a time,
 * with retries until the batch is handled. Fetches and heartbeats continue meanwhile, so that a slow handler neither
 * loses the membership nor blocks other partitions.
 */
export class KafkaPartitionReader {
  readonly partition: number;
  readonly signal: AbortSignal;
  readonly #options: ReaderOptions;
  readonly #abort = new AbortController();
  readonly #batchSizeMax: number;
  #buffer: KafkaMessage[] = [];
  #first = 0;
  #bytes = 0;
  #offset: number | null = null;
  #isStarted = false;
  #arrived: PromiseWithResolvers<void> | undefined;
  #room: PromiseWithResolvers<void> | undefined;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.partition = options.partition;
    this.signal = this.#abort.signal;
    this.#batchSizeMax = options.consume.batchSizeMax ?? batchSizeDefault;
  }

  /** Broker offset of the next record to fetch; null before the start. */
  get offset(): number | null {
    return this.#offset;
  }

  /** Whether fetched records are accepted. */
  get isOpen(): boolean {
    return this.#isStarted && !this.signal.aborted;
  }

  get isFull(): boolean {
    return this.#buffer.length - this.#first >= 2 * this.#batchSizeMax || this.#bytes >= bufferedBytesMax;
  }

  /** Handles pushed records until stopped; resolves when the last handler has ended. Never rejects. */
  async run(offset: number): Promise<void> {
    this.#offset = offset;
    this.#isStarted = true;
    while (!this.signal.aborted) {
      const messages = this.#take();
      if (messages.length > 0) await this.#handle(messages);
      else await this.#nextArrival();
    }
  }

  /** Accepts fetched records; skips those before the offset. */
  push(messages: readonly KafkaMessage[], nextOffset: number): void {
    const from = this.#offset;
    if (from !== null && nextOffset <= from) return;
    if (this.#first > this.#batchSizeMax) {
      this.#buffer = this.#buffer.slice(this.#first);
      this.#first = 0;
    }
    for (const message of messages) {
      if (from !== null && Number(message.offset) < from) continue;
      this.#buffer.push(message);
      this.#bytes += message.value?.length ?? 0;
    }
    this.#offset = nextOffset;
    this.#arrived?.resolve();
  }

  /** Resolves when the buffer has room or the reader is stopped. */
  room(): Promise<void> {
    if (!this.isFull || this.signal.aborted) return Promise.resolve();
    this.#room ??= Promise.withResolvers();
    return this.#room.promise;
  }

  /** Aborts the running batch and drops buffered records; another member handles them, or they are fetched again. */
  stop(): void {
    this.#abort.abort();
    this.#buffer = [];
    this.#arrived?.resolve();
    this.#room?.resolve();
  }

  async #nextArrival(): Promise<void> {
    this.#arrived = Promise.withResolvers();
    await this.#arrived.promise;
    this.#arrived = undefined;
  }

  #take(): KafkaMessage[] {
    const messages = this.#buffer.slice(this.#first, this.#first + this.#batchSizeMax);
    this.#first += messages.length;
    for (const { value } of messages) this.#bytes -= value?.length ?? 0;
    if (this.#first === this.#buffer.length) {
      this.#buffer = [];
      this.#first = 0;
    }
    if (!this.isFull) {
      this.#room?.resolve();
      this.#room = undefined;
    }
    return messages;
  }

  async #handle(messages: readonly KafkaMessage[]): Promise<void> {
    const { partition, signal } = this;
    const { base, consume, onHandled, log } = this.#options;
    const nextOffset = Number(messages.at(-1)!.offset) + 1;
    const records = this.#decode(messages);
    if (records.length > 0) {
      const batch = { partition, records, nextOffset: base + nextOffset, signal };
      const isHandled = await untilDone(() => consume.onBatch(batch).then(() => true), {
        signal,
        onFailure: (error, failures) =>
          log.warn(
            { err: error, group: consume.group, partition, failures },
            'handling a batch of the log failed, retrying',
          ),
      });
      if (isHandled === undefined) return;
    }
    onHandled(nextOffset);
  }

  #decode(messages: readonly KafkaMessage[]): PlacedRecord[] {
    const { partition } = this;
    const { base, log } = this.#options;
    const records: PlacedRecord[] = [];
    for (const message of messages) {
      const offset = base + Number(message.offset);
      try {
        records.push({ partition, offset, record: decodeKafkaRecord(message) });
      } catch (error) {
        log.error({ err: error, partition, offset }, 'skipping an unreadable record of the log');
      }
    }
    return records;
  }
}
