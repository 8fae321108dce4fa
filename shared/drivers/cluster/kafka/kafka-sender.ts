import { setTimeout as sleep } from 'node:timers/promises';
import type { Producer } from 'kafkajs';
import type { OutgoingRecord } from './kafka-batcher.ts';
import { kafkaClient, kafkaRetryPauses, type KafkaClient, type KafkaContext } from './kafka-client.ts';
import { within } from '../../../async/within.ts';

interface SenderConnection {
  readonly client: KafkaClient;
  readonly producer: Producer;
}

/** The deadline of a send. */
const sendTimeoutMs = 5_000;
/** The broker's timeout for its replicas: shorter than `sendTimeoutMs`, so that the broker's error arrives. */
const brokerTimeoutMs = 4_000;
/** How long appends wait for a new connection after a failure (such as a moved leader) before they are rejected. */
const graceMs = 400;
/** After two consecutive failures, appends are rejected immediately for this long before the next attempt. */
const cooldownMs = 1_000;
const connectTimeoutMs = 4_000;
const probePauseMs = { first: 100, longest: 1_000 } as const;

/**
 * Sends batches through one producer and replaces the producer after every failure: the outcome of a failed send is unknown, and a kafkajs producer could confuse later batches with it. While no producer is connected, sends fail immediately, and the sender reconnects in the background.
 *
 * The producer is not idempotent. It sends each batch once, so the broker sees no duplicates, and publishers' duplicates are detected by message ID. With `idempotent`, kafkajs would also reuse the sequence number of a failed send for the next batch, which the broker then acknowledges without storing it.
 */
export class KafkaSender {
  readonly #connection: KafkaContext;
  readonly #topic: string;
  readonly #abort = new AbortController();
  #current: SenderConnection | undefined;
  /** Pending while a new connection is opened. */
  #recovery: PromiseWithResolvers<SenderConnection> | undefined;
  #isRejecting = false;
  #consecutiveFailures = 0;
  #lastFailure: unknown;

  constructor(connection: KafkaContext, topic: string) {
    this.#connection = connection;
    this.#topic = topic;
  }

  /** Connects; throws on failure. */
  async open(): Promise<void> {
    this.#current = await this.#connect();
  }

  /**
   * Sends each record once with `acks=all`; resolves with the first offset of each partition. If it rejects, any of
   * the records may be in the log. One call at a time.
   */
  async send(records: readonly OutgoingRecord[]): Promise<Map<number, number>> {
    const current = this.#current ?? (await this.#waitForConnection());
    try {
      const responses = await within(
        sendTimeoutMs,
        'the append',
        current.producer.sendBatch({
          acks: -1,
          timeout: brokerTimeoutMs,
          topicMessages: [{ topic: this.#topic, messages: records as OutgoingRecord[] }],
        }),
      );
      this.#consecutiveFailures = 0;
      return firstOffsets(responses, records);
    } catch (error) {
      this.#replace(current, error);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#abort.abort();
    const current = this.#current;
    this.#current = undefined;
    if (current !== undefined) await drop(current);
  }

  /** Waits briefly for a pending connection. */
  #waitForConnection(): Promise<SenderConnection> {
    if (this.#recovery === undefined || this.#isRejecting) {
      return Promise.reject(new Error('Kafka unreachable', { cause: this.#lastFailure }));
    }
    return this.#recovery.promise;
  }

  #replace(current: SenderConnection, error: unknown): void {
    void drop(current);
    if (this.#current !== current) return;
    this.#current = undefined;
    this.#lastFailure = error;
    this.#consecutiveFailures += 1;
    this.#connection.log.warn({ err: error }, 'an append to Kafka failed, its outcome is unknown');
    void this.#recover();
  }

  /** Opens a new connection, with retries. */
  async #recover(): Promise<void> {
    const { signal } = this.#abort;
    const recovery = (this.#recovery = Promise.withResolvers<SenderConnection>());
    recovery.promise.catch(() => undefined); // waiting callers get the error
    const rejectAppends = () => {
      this.#isRejecting = true;
      recovery.reject(new Error('Kafka unreachable', { cause: this.#lastFailure }));
    };
    const grace = setTimeout(rejectAppends, graceMs);
    if (this.#consecutiveFailures > 1) {
      rejectAppends();
      await sleep(cooldownMs, undefined, { signal }).catch(() => undefined);
    }
    const current = await this.#connectUntilDone(signal);
    clearTimeout(grace);
    this.#recovery = undefined;
    if (current === undefined) return recovery.reject(new Error('the log is closed'));
    if (this.#isRejecting) this.#connection.log.info('Kafka reachable again');
    this.#isRejecting = false;
    this.#current = current;
    recovery.resolve(current);
  }

  async #connectUntilDone(signal: AbortSignal): Promise<SenderConnection | undefined> {
    for (
      let pauseMs: number = probePauseMs.first;
      !signal.aborted;
      pauseMs = Math.min(pauseMs * 2, probePauseMs.longest)
    ) {
      try {
        const current = await this.#connect();
        if (!signal.aborted) return current;
        await drop(current);
      } catch (error) {
        this.#lastFailure = error;
        await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
      }
    }
    return undefined;
  }

  async #connect(): Promise<SenderConnection> {
    const client = kafkaClient(this.#connection, { requestTimeoutMs: sendTimeoutMs });
    const producer = client.kafka.producer({
      idempotent: false,
      allowAutoTopicCreation: false,
      createPartitioner:
        () =>
        ({ message }) =>
          message.partition ?? 0,
      retry: { ...kafkaRetryPauses, retries: 0 },
    });
    const current = { client, producer };
    try {
      await within(connectTimeoutMs, 'connecting to Kafka', producer.connect());
      // An accepted connection proves nothing; an empty batch makes kafkajs load the topic's metadata.
      const topicMessages = [{ topic: this.#topic, messages: [] }];
      await within(connectTimeoutMs, 'Kafka’s metadata', producer.sendBatch({ topicMessages }));
      return current;
    } catch (error) {
      void drop(current);
      throw error;
    }
  }
}

/** Throws if a partition has no response: kafkajs drops partitions whose leader moved between its retries. */
function firstOffsets(
  responses: readonly { partition: number; baseOffset?: string }[],
  records: readonly OutgoingRecord[],
): Map<number, number> {
  const offsets = new Map<number, number>();
  for (const { partition, baseOffset } of responses) {
    if (baseOffset !== undefined) offsets.set(partition, Number(baseOffset));
  }
  for (const { partition } of records) {
    if (!offsets.has(partition)) throw new Error(`Kafka did not respond for partition ${partition}`);
  }
  return offsets;
}

async function drop({ client, producer }: SenderConnection): Promise<void> {
  client.destroy();
  await producer.disconnect().catch(() => undefined);
  client.destroy();
}
