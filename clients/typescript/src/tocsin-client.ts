import { Connection, type ClientOptions } from './connection.ts';
import { consumerPath, findOffset, storeOffset } from './consumer-offset.ts';
import { consumeLog, type Batch, type ConsumeOptions } from './consume-log.ts';
import { readLog, type LogEntry, type LogOptions } from './read-log.ts';
import type { PublishFields, Published } from './schemas.ts';
import { subscribe, type StreamEvent, type SubscribeOptions } from './subscribe.ts';

export interface PublishOptions extends Omit<PublishFields, 'topic' | 'message'> {
  /** Publishes with the same key create one message. A random one by default, so that a retry is safe. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

/** A client of one server with one credential. */
export class TocsinClient {
  readonly #connection: Connection;

  constructor(options: ClientOptions) {
    this.#connection = new Connection(options);
  }

  /** Publishes one message. Retries while the server is unavailable; the message is published once. */
  publish(topic: string, message: string, options: PublishOptions = {}): Promise<Published> {
    const { idempotencyKey = randomKey(), signal, ...fields } = options;
    return this.#connection.json<Published>('POST', '/', {
      body: { ...fields, topic, message },
      headers: { 'Idempotency-Key': idempotencyKey },
      signal,
    });
  }

  /** Iterates over the events of one or more topics until the caller stops. Resumes after a lost connection. */
  subscribe(topics: string | readonly string[], options: SubscribeOptions = {}): AsyncGenerator<StreamEvent, void> {
    return subscribe(this.#connection, typeof topics === 'string' ? [topics] : topics, options);
  }

  /** Iterates over the records of a log. Resumes after a lost connection. */
  log(topic: string, options: LogOptions = {}): AsyncGenerator<LogEntry, void> {
    return readLog(this.#connection, topic, options);
  }

  /**
   * Processes the log of a topic, at least once, and stores the offset on the server under the name of the consumer.
   * Resolves when the signal aborts; throws what `handle` throws.
   */
  consume(
    topic: string,
    name: string,
    handle: (batch: Batch) => Promise<void> | void,
    options: ConsumeOptions = {},
  ): Promise<void> {
    return consumeLog(this.#connection, { topic, name, handle }, options);
  }

  /** The next offset of a consumer; null if the consumer does not exist. */
  consumerOffset(topic: string, name: string): Promise<number | null> {
    return findOffset(this.#connection, consumerPath(topic, name), {});
  }

  /** Stores the next offset of a consumer; creates the consumer if necessary. */
  setConsumerOffset(topic: string, name: string, offset: number): Promise<void> {
    return storeOffset(this.#connection, consumerPath(topic, name), { offset });
  }

  /** Sends any other request, once. Throws TocsinError if the status is not 2xx. */
  request(path: string, init?: RequestInit): Promise<Response> {
    return this.#connection.request(path, init);
  }
}

/** Not `randomUUID`, which browsers offer only in secure contexts. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
