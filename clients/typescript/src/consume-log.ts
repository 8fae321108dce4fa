import type { Connection, JsonOptions } from './connection.ts';
import { consumerPath, findOffset, storeOffset } from './consumer-offset.ts';
import type { Gap, Lease, LogPage, LogRecord } from './schemas.ts';
import { sleep } from './sleep.ts';
import { TocsinError } from './tocsin-error.ts';
import { filterParameters, type TopicFilter } from './topic-filter.ts';

/** Records to process before the offset is stored. */
export interface Batch {
  readonly records: readonly LogRecord[];
  /** Records before these that are gone; null if none is. */
  readonly gap: Gap | null;
  /** Aborts when another program has taken the lease, or the caller stops. */
  readonly signal: AbortSignal;
}

export interface ConsumeOptions {
  /** Where a new consumer starts: at the first record, at the end, or at an offset. */
  readonly from?: 'start' | 'end' | number;
  /** At most this many records per batch, up to 1,000. 100 by default. */
  readonly batchSize?: number;
  readonly filter?: TopicFilter;
  /** Several programs share the consumer, one at a time, which holds a lease of so many seconds (10 to 300). */
  readonly leaseSeconds?: number;
  readonly signal?: AbortSignal;
}

const waitSeconds = 30;

/**
 * Reads the log of a topic and stores the offset on the server after each batch that `handle` has processed, until the
 * signal aborts. At least once: after a crash, the records of the last batch come again. Throws what `handle` throws;
 * its batch comes again when the program consumes again. While the server is unavailable, it waits.
 */
export async function consumeLog(
  connection: Connection,
  { topic, name, handle }: { topic: string; name: string; handle: (batch: Batch) => Promise<void> | void },
  options: ConsumeOptions,
): Promise<void> {
  const consumer = new LogConsumer(connection, { topic, name, handle, ...options });
  try {
    await consumer.run();
  } catch (error) {
    if (options.signal?.aborted !== true || error !== options.signal.reason) throw error;
  }
}

interface ConsumerOptions extends ConsumeOptions {
  readonly topic: string;
  readonly name: string;
  readonly handle: (batch: Batch) => Promise<void> | void;
}

class LogConsumer {
  readonly #connection: Connection;
  readonly #options: ConsumerOptions;
  readonly #topicPath: string;
  readonly #path: string;

  constructor(connection: Connection, options: ConsumerOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#topicPath = `/api/topics/${encodeURIComponent(options.topic)}`;
    this.#path = consumerPath(options.topic, options.name);
  }

  async run(): Promise<void> {
    const { signal, leaseSeconds } = this.#options;
    await this.#create();
    for (;;) {
      signal?.throwIfAborted();
      if (leaseSeconds === undefined) await this.#read(signal, null);
      else await this.#readWithLease(await this.#takeLease(leaseSeconds), leaseSeconds);
    }
  }

  async #create(): Promise<void> {
    const { from = 'start' } = this.#options;
    const options = { signal: this.#options.signal, forMs: Infinity };
    if ((await findOffset(this.#connection, this.#path, options)) !== null) return;
    const end = from === 'end' ? (await this.#send<LogPage>('GET', `${this.#topicPath}/log?limit=1`)).head : 0;
    await storeOffset(this.#connection, this.#path, { ...options, offset: typeof from === 'number' ? from : end });
  }

  /** Processes batches until the signal aborts. */
  async #read(signal: AbortSignal | undefined, lease: string | null): Promise<void> {
    const { batchSize = 100, filter, name, handle } = this.#options;
    const query = new URLSearchParams({
      consumer: name,
      wait: String(waitSeconds),
      limit: String(batchSize),
      ...filterParameters(filter),
    });
    const headers: Record<string, string> = lease === null ? {} : { 'X-Lease': lease };
    const never = new AbortController().signal;
    for (let stored: number | undefined; ;) {
      signal?.throwIfAborted();
      const {
        records,
        gap,
        next_offset: next,
      } = await this.#send<LogPage>('GET', `${this.#topicPath}/log?${query}`, {
        signal,
      });
      if (records.length > 0 || gap !== null) await handle({ records, gap, signal: signal ?? never });
      signal?.throwIfAborted();
      if (next === stored) continue;
      await storeOffset(this.#connection, this.#path, { offset: next, headers, signal, forMs: Infinity });
      stored = next;
    }
  }

  /** Waits until no other program holds the lease. */
  async #takeLease(ttl: number): Promise<string> {
    const { signal } = this.#options;
    for (;;) {
      try {
        return (await this.#send<Lease>('POST', `${this.#path}/lease`, { body: { ttl } })).lease;
      } catch (error) {
        if (!(error instanceof TocsinError) || error.status !== 409) throw error;
        // The holder may give it back earlier.
        await sleep(Math.min(ttl, 10) * 500 * (0.5 + Math.random()), signal);
      }
    }
  }

  /** Processes batches while the lease is held, extends it meanwhile, and gives it back in the end. */
  async #readWithLease(lease: string, ttl: number): Promise<void> {
    const { signal } = this.#options;
    const held = new AbortController();
    const lost = new LeaseLost('Lease was lost');
    const headers = { 'X-Lease': lease };
    const extending = setInterval(
      () => {
        this.#connection
          .request(`${this.#path}/lease`, {
            method: 'POST',
            headers: { ...headers, 'Content-Type': 'application/json' },
            body: JSON.stringify({ ttl }),
          })
          // The next call extends it, or finds that another program has taken it.
          .catch((error: unknown) => {
            if (isLost(error)) held.abort(lost);
          });
      },
      (ttl * 1_000) / 3,
    );
    try {
      await this.#read(signal === undefined ? held.signal : AbortSignal.any([signal, held.signal]), lease);
    } catch (error) {
      if (error !== lost && !isLost(error)) throw error;
    } finally {
      clearInterval(extending);
      held.abort(lost);
      await this.#connection.request(`${this.#path}/lease`, { method: 'DELETE', headers }).catch(() => undefined);
    }
  }

  #send<T>(
    method: string,
    path: string,
    { body, signal = this.#options.signal }: Pick<JsonOptions, 'body' | 'signal'> = {},
  ): Promise<T> {
    return this.#connection.json<T>(method, path, {
      signal,
      forMs: Infinity,
      ...(body !== undefined && { body }),
    });
  }
}

class LeaseLost extends Error {}

const isLost = (error: unknown): boolean =>
  error instanceof TocsinError && error.status === 409 && error.message === 'Lease was lost';
