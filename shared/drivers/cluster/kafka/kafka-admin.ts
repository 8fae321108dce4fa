import type { Admin } from 'kafkajs';
import { isNotConnected } from './is-not-connected.ts';
import {
  kafkaClient,
  kafkaRetryPauses,
  type KafkaClient,
  type KafkaClientOptions,
  type KafkaContext,
} from './kafka-client.ts';
import { within } from '../../../async/within.ts';

/** A partition's first broker offset, and the one after its last. */
export interface PartitionBounds {
  readonly low: number;
  readonly high: number;
}

interface AdminConnection {
  readonly client: KafkaClient;
  readonly admin: Admin;
  readonly connected: Promise<void>;
}

/** An admin client that is created on demand and recreated after a failure. */
export class KafkaAdmin {
  readonly #connection: KafkaContext;
  readonly #options: Pick<KafkaClientOptions, 'retries'>;
  #connected: AdminConnection | undefined;
  #closed = false;

  constructor(connection: KafkaContext, options: Pick<KafkaClientOptions, 'retries'> = {}) {
    this.#connection = connection;
    this.#options = options;
  }

  /** Runs the work with a time limit, and retries once on a new connection, unless the brokers refuse connections. */
  async call<T>(work: (admin: Admin) => Promise<T>, timeoutMs: number): Promise<T> {
    const deadline = performance.now() + timeoutMs;
    try {
      return await this.#attempt(work, timeoutMs);
    } catch (error) {
      const left = deadline - performance.now();
      if (isNotConnected(error) || left < timeoutMs / 4) throw error;
      return await this.#attempt(work, left);
    }
  }

  /** Returns the bounds of the topic's partitions that have a leader. */
  async bounds(topic: string, timeoutMs: number): Promise<Map<number, PartitionBounds>> {
    const offsets = await this.call((admin) => admin.fetchTopicOffsets(topic), timeoutMs);
    return new Map(offsets.map(({ partition, low, high }) => [partition, { low: Number(low), high: Number(high) }]));
  }

  /** Returns the group's committed offset per partition. */
  async committed(groupId: string, topic: string, timeoutMs: number): Promise<Map<number, number>> {
    const [ofTopic] = await this.call((admin) => admin.fetchOffsets({ groupId, topics: [topic] }), timeoutMs);
    const offsets = (ofTopic?.partitions ?? []).map(({ partition, offset }) => [partition, Number(offset)] as const);
    return new Map(offsets.filter(([, offset]) => offset >= 0)); // -1 means no committed offset
  }

  async close(): Promise<void> {
    this.#closed = true;
    const connection = this.#connected;
    this.#connected = undefined;
    if (connection !== undefined) await drop(connection);
  }

  async #attempt<T>(work: (admin: Admin) => Promise<T>, timeoutMs: number): Promise<T> {
    if (this.#closed) throw new Error('the Kafka admin client is closed');
    const connection = (this.#connected ??= this.#open(timeoutMs));
    try {
      return await within(
        timeoutMs,
        'Kafka’s answer',
        connection.connected.then(() => work(connection.admin)),
      );
    } catch (error) {
      if (this.#connected === connection) this.#connected = undefined;
      void drop(connection);
      throw error;
    }
  }

  #open(requestTimeoutMs: number): AdminConnection {
    const client = kafkaClient(this.#connection, { ...this.#options, requestTimeoutMs });
    const admin = client.kafka.admin({ retry: { ...kafkaRetryPauses, retries: 2 } });
    return { client, admin, connected: admin.connect() };
  }
}

async function drop({ admin, client }: AdminConnection): Promise<void> {
  await within(1_000, 'leaving Kafka', admin.disconnect()).catch(() => undefined);
  client.destroy();
}
