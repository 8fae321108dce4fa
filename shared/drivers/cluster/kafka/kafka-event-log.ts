import { setTimeout as sleep } from 'node:timers/promises';
import { unavailable } from '../../../domain/errors.ts';
import type { LogRecord } from '../../../domain/messages/log-record.ts';
import type { PubSub } from '../../../ports/bus/pub-sub.ts';
import type { ConsumeOptions, Consumption, EventLog, LogHealth, UnreadRecords } from '../../../ports/event-log.ts';
import { KafkaAdmin } from './kafka-admin.ts';
import { GrowingPartitions } from './growing-partitions.ts';
import { kafkaClientLog, type KafkaConnection, type KafkaContext } from './kafka-client.ts';
import { calmKafkaTimers } from './patches/calm-kafka-timers.ts';
import { useFastRecordEncoder } from './patches/fast-record-encoder.ts';
import { stopKafkaFetchers } from './patches/stop-kafka-fetchers.ts';
import { listGroupMembers, removeGroupMember } from './kafka-group.ts';
import { kafkaGroupId } from './kafka-group-id.ts';
import { KafkaMember } from './kafka-member.ts';
import { sessionTimeoutMs } from './kafka-session.ts';
import { GroupWatch } from './members/group-watch.ts';
import { encodeKafkaRecord } from './kafka-record.ts';
import { KafkaPublisher } from './kafka-publisher.ts';
import { tolerateLostKafkaBrokers } from './patches/tolerate-lost-kafka-brokers.ts';
import { ensureKafkaTopic, type KafkaTopicOptions } from './kafka-topic.ts';

export interface KafkaEventLogOptions extends KafkaConnection, KafkaTopicOptions {
  /** The base added to a partition's broker offsets. Default 0. */
  readonly base?: (partition: number) => number;
  /** How often nodes and consumers check for partitions that an operator added. Default 15 s. */
  readonly partitionsCheckMs?: number;
  /** Carries the beats of members. Without it, a group waits for Kafka's session timeout when a member dies. */
  readonly bus?: Pick<PubSub, 'publish' | 'subscribe' | 'isConnected'>;
}

/** An event log on Kafka, with its cluster ID, because offsets are only valid on one cluster. */
export interface KafkaEventLog extends EventLog {
  readonly clusterId: string;
  /** The end offset of each partition on the broker when the log was opened. */
  readonly endsAtOpen: ReadonlyMap<number, number>;
}

const openTimeoutMs = 10_000;
const openAttemptMs = 4_000;
const openPauseMs = 250;
/** A check costs one small request. */
const partitionsCheckMsDefault = 15_000;
/** How long rejected logins are retried, because a starting broker may not know its users yet. */
const rejectedLoginRetryMs = 1_000;
const responseTimeoutMs = 2_000;

/**
 * Opens the log on the topic, and creates the topic if missing. Throws an error that names the brokers if they are
 * unreachable for ten seconds or reject the login for a second.
 */
export async function openKafkaEventLog(options: KafkaEventLogOptions): Promise<KafkaEventLog> {
  // First, because the others load the file that uses the encoder.
  if (!useFastRecordEncoder()) options.log.debug('kafkajs has unexpected internals: records will use more CPU time');
  if (!calmKafkaTimers())
    options.log.debug('kafkajs has unexpected internals: idle connections will use more CPU time');
  if (!stopKafkaFetchers())
    options.log.warn('kafkajs has unexpected internals: a process may hang if it stops while the brokers change');
  if (!tolerateLostKafkaBrokers())
    options.log.warn('kafkajs has unexpected internals: the loss of one broker will affect all partitions');
  const context: KafkaContext = { ...options, clientLog: kafkaClientLog(options.log) };
  const admin = new KafkaAdmin(context);
  const publisher = new KafkaPublisher(context, options.topic);
  const deadline = performance.now() + openTimeoutMs;
  let rejectedSince: number | undefined;
  for (;;) {
    try {
      const partitions = await admin.call((client) => ensureKafkaTopic(client, options, options.log), openAttemptMs);
      const { clusterId } = await admin.call((client) => client.describeCluster(), openAttemptMs);
      const bounds = await admin.bounds(options.topic, openAttemptMs);
      if (bounds.size < partitions) throw new Error(`${partitions - bounds.size} partitions have no leader`);
      const endsAtOpen = new Map([...bounds].map(([partition, { high }]) => [partition, high]));
      await publisher.open(openAttemptMs);
      return new OpenKafkaEventLog(options, { context, admin, publisher, partitions, clusterId, endsAtOpen });
    } catch (error) {
      rejectedSince = isLoginRejected(error) ? (rejectedSince ?? performance.now()) : undefined;
      const endsAt = rejectedSince === undefined ? deadline : Math.min(deadline, rejectedSince + rejectedLoginRetryMs);
      if (performance.now() + openPauseMs < endsAt) {
        await sleep(openPauseMs);
        continue;
      }
      await Promise.all([publisher.close(), admin.close()]);
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`Kafka is unreachable at ${options.brokers.join(', ')}: ${reason}`, { cause: error });
    }
  }
}

/** kafkajs also reports a connection lost during the login with this error. */
const isLoginRejected = (error: unknown): boolean =>
  error instanceof Error && error.name === 'KafkaJSSASLAuthenticationError';

const partitionsCheckMsOf = ({ partitionsCheckMs }: Pick<KafkaEventLogOptions, 'partitionsCheckMs'>): number =>
  partitionsCheckMs ?? partitionsCheckMsDefault;

interface Parts {
  readonly context: KafkaContext;
  readonly admin: KafkaAdmin;
  readonly publisher: KafkaPublisher;
  readonly partitions: number;
  readonly clusterId: string;
  readonly endsAtOpen: ReadonlyMap<number, number>;
}

class OpenKafkaEventLog implements KafkaEventLog {
  readonly clusterId: string;
  readonly endsAtOpen: ReadonlyMap<number, number>;
  readonly #partitions: GrowingPartitions;
  readonly #options: KafkaEventLogOptions;
  readonly #context: KafkaContext;
  readonly #base: (partition: number) => number;
  readonly #admin: KafkaAdmin;
  /** Separate, because a failed request ends the others of its connection, and a group's coordinator may be silent. */
  readonly #groupAdmin: KafkaAdmin;
  readonly #publisher: KafkaPublisher;
  readonly #members = new Set<KafkaMember>();
  /** The known end offset on the broker, per partition. */
  readonly #nextOffsets: Map<number, number>;
  readonly #halted = new Map<string, { readonly group: string; readonly reason: Error }>();
  readonly #lost = new Map<string, number>();
  readonly #removed = new Map<string, number>();
  /** Why appends stopped; null while they are accepted. */
  #regression: Error | null = null;
  #closing: Promise<void> | undefined;

  constructor(options: KafkaEventLogOptions, { context, admin, publisher, partitions, clusterId, endsAtOpen }: Parts) {
    this.#options = options;
    this.#context = context;
    this.#base = options.base ?? (() => 0);
    this.#admin = admin;
    this.#groupAdmin = new KafkaAdmin(context);
    this.#publisher = publisher;
    this.#partitions = new GrowingPartitions(partitions, {
      everyMs: partitionsCheckMsOf(options),
      count: async () => (await this.#topicPartitions()).length,
    });
    this.clusterId = clusterId;
    this.endsAtOpen = endsAtOpen;
    this.#nextOffsets = new Map(endsAtOpen);
  }

  get partitions(): number {
    return this.#partitions.used;
  }

  append(partition: number, record: LogRecord, topicName: string): Promise<number> {
    if (this.#closing !== undefined) return Promise.reject(unavailable('Log'));
    return partition >= 0 && partition < this.partitions
      ? this.#append(partition, record, topicName)
      : this.#appendToNew(partition, record, topicName);
  }

  async #appendToNew(partition: number, record: LogRecord, topicName: string): Promise<number> {
    const exists = await this.#partitions.has(partition).catch((error: unknown) => {
      throw unavailable('Log', error);
    });
    if (!exists) throw new RangeError(`the log has no partition ${partition}`);
    return this.#append(partition, record, topicName);
  }

  #append(partition: number, record: LogRecord, topicName: string): Promise<number> {
    if (this.#regression !== null) return Promise.reject(unavailable('Log', this.#regression));
    const { key, value, headers } = encodeKafkaRecord(record, topicName);
    return this.#publisher
      .append({ partition, key, value, headers })
      .then((offset) => this.#base(partition) + this.#onlyGrowing(partition, offset));
  }

  /**
   * Prevents offsets from being assigned twice if the topic is recreated, or a broker loses its last records, while
   * nodes run.
   */
  #onlyGrowing(partition: number, offset: number): number {
    const next = this.#nextOffsets.get(partition) ?? 0;
    if (offset < next && this.#regression === null) {
      const { topic, log } = this.#options;
      this.#regression = new Error(
        `partition ${partition} of ${topic} continues at ${offset} after ${next - 1}: it was lost or recreated`,
      );
      log.error(
        { err: this.#regression },
        'publishing stopped: stop all nodes, run `tocsin log adopt`, and start them again',
      );
    }
    if (this.#regression !== null) throw unavailable('Log', this.#regression);
    this.#nextOffsets.set(partition, offset + 1);
    return offset;
  }

  async consume(consume: ConsumeOptions): Promise<Consumption> {
    if (this.#closing !== undefined) throw unavailable('Log');
    const member = new KafkaMember({
      connection: this.#context,
      admin: this.#admin,
      topic: this.#options.topic,
      partitions: () => this.partitions,
      metadataMaxAgeMs: partitionsCheckMsOf(this.#options),
      base: this.#base,
      consume,
      log: this.#options.log,
      watch: this.#watch(consume.group),
      onHalted: (partition, reason) => this.#halt(consume.group, partition, reason),
      onLost: (partition, records) => this.#lose(consume.group, partition, records),
    });
    this.#members.add(member);
    await member.start();
    return {
      close: async () => {
        await member.close();
        this.#members.delete(member);
      },
    };
  }

  #watch(group: string): GroupWatch | undefined {
    const { bus, topic, log } = this.#options;
    if (bus === undefined) return undefined;
    const groupId = kafkaGroupId(topic, group);
    return new GroupWatch({
      bus,
      group,
      sessionTimeoutMs,
      log,
      listMembers: () => listGroupMembers(this.#groupAdmin, groupId),
      removeMember: (memberId) => removeGroupMember(this.#context, { groupId, memberId }),
      onRemoved: () => this.#removed.set(group, (this.#removed.get(group) ?? 0) + 1),
    });
  }

  #halt(group: string, partition: number, reason: Error): void {
    this.#halted.set(`${group} ${partition}`, { group, reason });
    this.#options.log.error(
      { err: reason, group, partition },
      'reading of a partition stopped, because the log was lost or recreated: stop all nodes, run `tocsin log adopt`, and start them again',
    );
  }

  #lose(group: string, partition: number, records: number): void {
    this.#lost.set(group, (this.#lost.get(group) ?? 0) + records);
    this.#options.log.error(
      { group, partition, records },
      'the log removed records before they were read: raise KAFKA_RETENTION_DAYS or the retention of the topic',
    );
  }

  unread(group: string): UnreadRecords {
    const halted = [...this.#halted.values()].filter((one) => one.group === group);
    return { haltedPartitions: halted.length, lost: this.#lost.get(group) ?? 0 };
  }

  removedMembers(group: string): number {
    return this.#removed.get(group) ?? 0;
  }

  async end(partition: number): Promise<number> {
    try {
      const bounds = (await this.#admin.bounds(this.#options.topic, responseTimeoutMs)).get(partition);
      if (bounds === undefined) throw new Error(`partition ${partition} has no leader`);
      return this.#base(partition) + bounds.high;
    } catch (error) {
      throw unavailable('Log', error);
    }
  }

  async lag(group: string): Promise<number> {
    const { topic } = this.#options;
    try {
      const [bounds, committed] = await Promise.all([
        this.#admin.bounds(topic, responseTimeoutMs),
        this.#admin.committed(kafkaGroupId(topic, group), topic, responseTimeoutMs),
      ]);
      // A group without a committed offset, or whose offset was removed from the log, starts at the first available
      // record.
      return [...bounds].reduce(
        (sum, [partition, { low, high }]) => sum + high - Math.max(low, committed.get(partition) ?? low),
        0,
      );
    } catch (error) {
      throw unavailable('Log', error);
    }
  }

  async ping(): Promise<LogHealth> {
    const [halted] = this.#halted.values();
    if (halted !== undefined) throw unavailable('Log', halted.reason);
    if (this.#regression !== null) throw unavailable('Log', this.#regression);
    try {
      const partitions = await this.#topicPartitions();
      const unavailablePartitions = partitions.filter(({ leader }) => leader < 0).length;
      if (unavailablePartitions === partitions.length) throw new Error('no partition has a leader');
      return { unavailablePartitions };
    } catch (error) {
      throw unavailable('Log', error);
    }
  }

  async #topicPartitions(): Promise<readonly { readonly leader: number }[]> {
    const { topics } = await this.#admin.call(
      (admin) => admin.fetchTopicMetadata({ topics: [this.#options.topic] }),
      responseTimeoutMs,
    );
    return topics[0]?.partitions ?? [];
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#partitions.close();
    await Promise.all([...this.#members].map((member) => member.close()));
    await this.#publisher.close();
    await Promise.all([this.#admin.close(), this.#groupAdmin.close()]);
  }
}
