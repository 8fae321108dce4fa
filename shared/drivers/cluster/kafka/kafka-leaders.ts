import { setTimeout as sleep } from 'node:timers/promises';
import { isNotConnected } from './is-not-connected.ts';
import { KafkaAdmin } from './kafka-admin.ts';
import type { KafkaContext } from './kafka-client.ts';

/** Short, so that a silent broker delays a refresh only a little; the next one asks another broker. */
const responseTimeoutMs = 700;
/** The pause before each refresh: an election takes seconds, and all waiting appends share a refresh. */
const refreshPauseMs = 100;
/**
 * After this time without a response, all brokers are gone. A silent one of several can fail some consecutive
 * refreshes. They fail once a second, so a number of whole seconds would let a millisecond decide about another one.
 */
const silentMsMax = 5_500;

export interface KafkaBroker {
  readonly nodeId: number;
  /** `host:port`. */
  readonly address: string;
}

/** The leader of each partition of the topic, as last reported by a broker. */
export class KafkaLeaders {
  readonly #admin: KafkaAdmin;
  readonly #topic: string;
  #leaders: ReadonlyMap<number, KafkaBroker> = new Map();
  #refreshing: Promise<boolean> | undefined;
  /** The first of consecutive failures; undefined after a success. */
  #failingSince: number | undefined;
  #isGone = false;
  #isClosed = false;

  constructor(context: KafkaContext, topic: string) {
    // No retries: publishes that find no leader wait for each refresh.
    this.#admin = new KafkaAdmin(context, { retries: 0 });
    this.#topic = topic;
  }

  /** The broker that leads the partition; undefined if none does. */
  of(partition: number): KafkaBroker | undefined {
    return this.#leaders.get(partition);
  }

  /** Whether all brokers are gone. Asks them until one responds. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** All brokers that lead partitions. */
  get brokers(): readonly KafkaBroker[] {
    return [...new Set(this.#leaders.values())];
  }

  /** Throws if no broker responds. */
  async load(timeoutMs: number): Promise<void> {
    const { topics, brokers } = await this.#admin.call(async (admin) => {
      const { topics } = await admin.fetchTopicMetadata({ topics: [this.#topic] });
      const { brokers } = await admin.describeCluster();
      return { topics, brokers };
    }, timeoutMs);
    const known = new Map(
      brokers.map(({ nodeId, host, port }) => [nodeId, { nodeId, address: `${host}:${port}` } as const]),
    );
    const partitions = topics[0]?.partitions ?? [];
    this.#leaders = new Map(
      partitions.flatMap(({ partitionId, leader }) => {
        const broker = known.get(leader);
        return broker === undefined ? [] : [[partitionId, broker] as const];
      }),
    );
  }

  /**
   * Loads the leaders again after a short pause. Concurrent calls share the work. Resolves with whether a broker
   * responded.
   */
  refresh(): Promise<boolean> {
    this.#refreshing ??= sleep(refreshPauseMs)
      .then(() => this.load(responseTimeoutMs))
      .then(
        () => this.#succeeded(),
        (error: unknown) => this.#failed(error),
      );
    return this.#refreshing;
  }

  #succeeded(): true {
    this.#refreshing = undefined;
    this.#failingSince = undefined;
    this.#isGone = false;
    return true;
  }

  #failed(error: unknown): false {
    this.#refreshing = undefined;
    this.#failingSince ??= performance.now();
    // A refusal means that all brokers refused.
    this.#isGone = isNotConnected(error) || performance.now() - this.#failingSince > silentMsMax;
    if (this.#isGone && !this.#isClosed) void this.refresh();
    return false;
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.#admin.close();
  }
}
