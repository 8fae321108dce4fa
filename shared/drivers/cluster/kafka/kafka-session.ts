import type { Cluster, Consumer, EachBatchPayload } from 'kafkajs';
import type { Logger } from '../../../platform/logger.ts';
import { coalescedInterval } from '../../../async/coalesced-timer.ts';
import { untilDone } from '../../../async/until-done.ts';
import type { ConsumeOptions } from '../../../ports/event-log.ts';
import type { KafkaAdmin, PartitionBounds } from './kafka-admin.ts';
import { kafkaClient, kafkaRetryPauses, type KafkaClient, type KafkaContext } from './kafka-client.ts';
import { FetchPause } from './fetch-pause.ts';
import { assignerThat } from './kafka-group.ts';
import { kafkaGroupId } from './kafka-group-id.ts';
import { KafkaPartitionReader } from './kafka-partition-reader.ts';
import { collectFetches } from './patches/collect-kafka-fetches.ts';
import { hastenHeartbeats } from './patches/isolate-kafka-fetches.ts';
import type { GroupWatch } from './members/group-watch.ts';
import { StallWatch } from './stall-watch.ts';
import { within } from '../../../async/within.ts';

export interface SessionOptions {
  readonly connection: KafkaContext;
  readonly admin: KafkaAdmin;
  readonly topic: string;
  /** The number of partitions of the topic. */
  readonly partitions: () => number;
  /** How late an added partition is noticed. */
  readonly metadataMaxAgeMs: number;
  /** The base added to a partition's broker offsets. */
  readonly base: (partition: number) => number;
  readonly consume: ConsumeOptions;
  readonly log: Logger;
  /** Removes members that died. Without it, only the session timeout does. */
  readonly watch: GroupWatch | undefined;
  readonly onJoined: () => void;
  /** Called when a partition is not read any more, because the log lost records that were handled. */
  readonly onHalted: (partition: number, reason: Error) => void;
  /** Called when the log removed records before they were read. */
  readonly onLost: (partition: number, records: number) => void;
  /** The running handlers per partition, over all sessions of the member; at most one per partition. */
  readonly handling: Map<number, Promise<void>>;
  /** Broker offset up to which the member has handled a partition, over all its sessions. */
  readonly handledUpTo: Map<number, number>;
}

/** More than one, so that partitions that an operator adds during the session do not wait for others. */
const workersPerPartition = 2;
/** The duration of a fetch without records. Delays a seek and a close by up to this time. */
const maxWaitMs = 250;
/** How long the group waits for a member that died, unless another one removes it. */
export const sessionTimeoutMs = 10_000;
/** How late the other members learn that one joined or left, unless the bus reports it. */
export const heartbeatIntervalMs = 2_000;
/**
 * Half a session timeout: heartbeats are sent between fetches, and one missing response must not end the membership.
 */
const requestTimeoutMs = 5_000;
const connectTimeoutMs = 10_000;
/** How long a full partition may delay fetches of other partitions before it is paused. */
const fullPauseDelayMs = 200;
/** Only repeats work after a crash: records that were handled since the last commit. */
const commitDelayMs = 500;
/**
 * Retries every half second for five minutes, because replacing a failed consumer is slow: the group waits for its
 * session to time out.
 */
const outageRetries = 600;
const adminTimeoutMs = 2_000;
const watchIntervalMs = 2_500;
const joinTimeoutMs = 60_000;
const leaveTimeoutMs = 5_000;
/** A new leader can report an end that is too low for a moment. */
const shortLogPatienceMs = 15_000;

/**
 * One kafkajs consumer as a group member, from its connection to its first failure. `ended` then resolves with the
 * reason, and the owner closes the session and creates the next one.
 */
export class KafkaSession {
  readonly #options: SessionOptions;
  readonly #clientId: string;
  readonly #client: KafkaClient;
  readonly #consumer: Consumer;
  #cluster: Cluster | undefined;
  readonly #fetchPause: FetchPause | undefined;
  readonly #ended = Promise.withResolvers<unknown>();
  readonly #stallWatch = new StallWatch();
  readonly #openedAt = performance.now();
  #readers = new Map<number, KafkaPartitionReader>();
  /** Broker offsets to commit. */
  readonly #handled = new Map<number, number>();
  #commitTimer: NodeJS.Timeout | undefined;
  #committing = Promise.resolve();
  #stopWatching: (() => void) | undefined;
  #hasJoined = false;
  #isRejoining = false;
  #isStopped = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    const { collect } = options.consume;
    this.#fetchPause = collect && !collect.endsAtPeak ? new FetchPause(collect) : undefined;
    this.#clientId = options.watch?.clientId ?? options.connection.clientId;
    this.#client = kafkaClient(
      { ...options.connection, clientId: this.#clientId },
      { requestTimeoutMs, retries: outageRetries },
    );
    this.#consumer = this.#client.kafka.consumer({
      groupId: kafkaGroupId(options.topic, options.consume.group),
      partitionAssigners: [
        assignerThat((cluster) => {
          this.#cluster = cluster;
          if (collect?.endsAtPeak) collectFetches(cluster, collect);
        }),
      ],
      sessionTimeout: sessionTimeoutMs,
      heartbeatInterval: heartbeatIntervalMs,
      rebalanceTimeout: sessionTimeoutMs,
      maxWaitTimeInMs: maxWaitMs,
      metadataMaxAge: options.metadataMaxAgeMs,
      allowAutoTopicCreation: false,
      // kafkajs restarts after some errors only, so every crash ends the session.
      retry: { ...kafkaRetryPauses, retries: outageRetries, restartOnFailure: () => Promise.resolve(false) },
    });
  }

  /** Resolves with the reason why the session ended. */
  get ended(): Promise<unknown> {
    return this.#ended.promise;
  }

  /** Connects, and joins the group in the background. Rejects if it cannot connect. */
  async start(): Promise<void> {
    const consumer = this.#consumer;
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) =>
      this.#startGeneration(payload.memberAssignment[this.#options.topic] ?? []),
    );
    consumer.on(consumer.events.REBALANCING, () => this.#release());
    consumer.on(consumer.events.HEARTBEAT, () => this.#onHeartbeat());
    consumer.on(consumer.events.CRASH, ({ payload }) => this.#ended.resolve(payload.error));
    await within(connectTimeoutMs, 'connecting to Kafka', consumer.connect());
    await consumer.subscribe({ topic: this.#options.topic, fromBeginning: true });
    if (this.#isStopped) return; // while it connected
    this.#stopWatching = coalescedInterval(watchIntervalMs, () => void this.#checkProgress());
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      // kafkajs calls every worker after each fetch with records: 1,000 workers took a tenth of the fan-out's time.
      partitionsConsumedConcurrently: workersPerPartition * this.#options.partitions(),
      eachBatch: (payload) => this.#fetched(payload),
    });
  }

  /** Stops accepting records and aborts the running batches. `handling` resolves when their handlers end. */
  stop(): void {
    this.#isStopped = true;
    this.#stopWatching?.();
    this.#pause([...this.#readers.keys()]); // otherwise it would fetch the same records repeatedly
    this.#stopReaders();
  }

  /** Commits handled offsets and leaves the group. */
  async leave(): Promise<void> {
    clearTimeout(this.#commitTimer);
    await within(leaveTimeoutMs, 'the last commit', this.#commit()).catch(() => undefined);
    const leaving = this.#consumer.stop().then(() => {
      this.#options.watch?.left(this.#clientId);
      return this.#consumer.disconnect();
    });
    await within(leaveTimeoutMs, 'leaving the group', leaving).catch(() => undefined);
    this.#client.destroy();
  }

  /** Notices a rebalance sooner. */
  hastenHeartbeats(): void {
    if (this.#cluster !== undefined) hastenHeartbeats(this.#cluster);
  }

  /** Starts readers for the partitions of a new group generation, including partitions kept from the previous one. */
  #startGeneration(partitions: readonly number[]): void {
    if (this.#isStopped) return this.#pause(partitions);
    this.#stopReaders();
    this.#handled.clear(); // belongs to the previous generation, where other members may own partitions now
    this.#readers = new Map(partitions.map((partition) => [partition, this.#newReader(partition)]));
    this.#pause(partitions); // until the start offset is known
    this.#stallWatch.clear();
    if (!this.#hasJoined) this.#options.onJoined();
    this.#hasJoined = true;
    this.#isRejoining = false;
    this.#options.watch?.joined();
    for (const reader of this.#readers.values()) this.#startReader(reader);
  }

  #newReader(partition: number): KafkaPartitionReader {
    const { base, consume, log, handledUpTo } = this.#options;
    const reader: KafkaPartitionReader = new KafkaPartitionReader({
      partition,
      base: base(partition),
      consume,
      log,
      onHandled: (nextOffset) => {
        handledUpTo.set(partition, Math.max(nextOffset, handledUpTo.get(partition) ?? 0));
        if (this.#readers.get(partition) === reader) this.#scheduleCommit(partition, nextOffset);
      },
    });
    return reader;
  }

  #scheduleCommit(partition: number, nextOffset: number): void {
    this.#handled.set(partition, nextOffset);
    this.#commitTimer ??= setTimeout(() => void this.#commit(), commitDelayMs);
  }

  #startReader(reader: KafkaPartitionReader): void {
    const { handling } = this.#options;
    const previous = handling.get(reader.partition);
    const runAfterPrevious = async () => {
      await previous;
      const start = await this.#findStart(reader);
      if (start === undefined) return;
      this.#seek(reader.partition, start);
      this.#resume(reader.partition);
      await reader.run(start);
    };
    handling.set(
      reader.partition,
      runAfterPrevious().catch((error: unknown) => this.#ended.resolve(error)),
    );
  }

  /**
   * Returns the broker offset to start from; undefined if the partition was revoked, or is halted because the log ends
   * before the handled records. KafkaJS would start again at the first record.
   */
  #findStart({ partition, signal }: KafkaPartitionReader): Promise<number | undefined> {
    const { consume, base, log } = this.#options;
    let shortSince: number | undefined;
    const findStart = async (): Promise<number | undefined> => {
      const startOffset = (await consume.startAt?.(partition, signal)) ?? null;
      const asked = startOffset === null ? await this.#resumeOffset(partition) : startOffset - base(partition);
      const { low, high } = await this.#boundsOf(partition);
      if (asked !== null && asked > high) {
        shortSince ??= performance.now();
        const reason = new Error(`partition ${partition} ends at ${high}, but records up to ${asked} were handled`);
        if (performance.now() - shortSince < shortLogPatienceMs) throw reason;
        this.#options.onHalted(partition, reason);
        return undefined;
      }
      const lost = asked === null ? 0 : low - Math.max(asked, 0);
      if (lost > 0) this.#options.onLost(partition, lost);
      const start = Math.max(asked ?? low, low);
      // A restored store can end before the group's committed offset. Reset the offset, so that the lag is correct.
      if (startOffset !== null) this.#scheduleCommit(partition, start);
      return start;
    };
    return untilDone(findStart, {
      signal,
      onFailure: (error, failures) =>
        log.warn({ err: error, group: consume.group, partition, failures }, 'the start offset is not known yet'),
    });
  }

  /**
   * Returns the broker offset at which the group resumes a partition, or null for a new group. Neither records handled
   * since the last commit nor records handled by another member are repeated.
   */
  async #resumeOffset(partition: number): Promise<number | null> {
    const { admin, topic, consume, handledUpTo } = this.#options;
    const own = handledUpTo.get(partition);
    const committed =
      (await admin.committed(kafkaGroupId(topic, consume.group), topic, adminTimeoutMs)).get(partition) ?? null;
    if (own === undefined || own <= (committed ?? -1)) return committed;
    this.#scheduleCommit(partition, own);
    return own;
  }

  async #boundsOf(partition: number): Promise<PartitionBounds> {
    const { admin, topic } = this.#options;
    const bounds = (await admin.bounds(topic, adminTimeoutMs)).get(partition);
    if (bounds === undefined) throw new Error(`partition ${partition} has no leader`);
    return bounds;
  }

  /** Passes fetched records to the partition's reader. Records that are not resolved are fetched again. */
  async #fetched({ batch, resolveOffset }: EachBatchPayload): Promise<void> {
    const reader = this.#readers.get(batch.partition);
    if (!reader?.isOpen) return;
    const [first, expected] = [Number(batch.firstOffset()), reader.offset];
    // After OFFSET_OUT_OF_RANGE, KafkaJS continues at the first record. A new session compares the position with the
    // log.
    if (expected !== null && first < expected)
      return this.#ended.resolve(new Error(`partition ${batch.partition} went back to ${first} from ${expected}`));
    if (expected !== null && first > expected) void this.#reportGap(batch.partition, expected);
    const last = batch.lastOffset();
    reader.push(batch.messages, Number(last) + 1);
    resolveOffset(last);
    // The next fetch from this broker begins when this resolves.
    await this.#fetchPause?.after(batch.messages.length);
    if (!reader.isFull) return;
    await within(fullPauseDelayMs, 'the handler', reader.room()).catch(() => undefined);
    if (!reader.isFull || !reader.isOpen) return;
    this.#pause([reader.partition]);
    void reader.room().then(() => {
      if (reader.isOpen) this.#resume(reader.partition);
    });
  }

  /** Reports records that the log removed before they were read. A log can also have gaps that never were records. */
  async #reportGap(partition: number, from: number): Promise<void> {
    const { log, consume } = this.#options;
    try {
      const { low } = await this.#boundsOf(partition);
      if (low > from) this.#options.onLost(partition, low - from);
    } catch (error) {
      log.debug({ err: error, group: consume.group, partition }, 'the bounds of the log are unknown');
    }
  }

  /** On a rebalance, aborts running batches and commits handled offsets while the membership is valid. */
  #release(): void {
    this.#isRejoining = true;
    this.#options.watch?.rebalancing();
    this.#stopReaders();
    void this.#commit();
  }

  /**
   * A starting broker may reject the join and, a moment later, accept heartbeats of the previous membership.
   * kafkajs then continues without having joined, and its readers would stay stopped.
   */
  #onHeartbeat(): void {
    if (this.#isRejoining) this.#ended.resolve(new Error('the consumer continued without rejoining its group'));
  }

  #stopReaders(): void {
    for (const reader of this.#readers.values()) reader.stop();
  }

  /** One commit at a time, so that an older offset cannot overwrite a newer one. */
  #commit(): Promise<void> {
    clearTimeout(this.#commitTimer);
    this.#commitTimer = undefined;
    this.#committing = this.#committing.then(() => this.#commitHandled());
    return this.#committing;
  }

  async #commitHandled(): Promise<void> {
    if (this.#handled.size === 0) return;
    const { topic, log, consume } = this.#options;
    const offsets = [...this.#handled].map(([partition, offset]) => ({ topic, partition, offset: String(offset) }));
    this.#handled.clear();
    try {
      await this.#consumer.commitOffsets(offsets);
    } catch (error) {
      // Harmless: the next commit includes it, and uncommitted records are repeated.
      log.debug({ err: error, group: consume.group }, 'offsets could not be committed');
    }
  }

  /** kafkajs can silently stop fetching (https://github.com/tulios/kafkajs/issues/1570). */
  async #checkProgress(): Promise<void> {
    if (!this.#hasJoined) {
      if (performance.now() - this.#openedAt > joinTimeoutMs)
        this.#ended.resolve(new Error('the group could not be joined'));
      return;
    }
    const { admin, topic, consume, log } = this.#options;
    try {
      const bounds = await admin.bounds(topic, adminTimeoutMs);
      for (const reader of this.#readers.values()) {
        const end = bounds.get(reader.partition)?.high ?? 0;
        if (
          !reader.isOpen ||
          reader.isFull ||
          !this.#stallWatch.isStalled(reader.partition, { offset: reader.offset, end })
        )
          continue;
        this.#ended.resolve(new Error(`partition ${reader.partition} grows, but no records arrive`));
      }
    } catch (error) {
      log.debug({ err: error, group: consume.group }, 'the end offsets of the log are unknown');
    }
  }

  #seek(partition: number, offset: number): void {
    this.#control(() => this.#consumer.seek({ topic: this.#options.topic, partition, offset: String(offset) }));
  }

  #pause(partitions: readonly number[]): void {
    if (partitions.length === 0) return;
    this.#control(() => this.#consumer.pause([{ topic: this.#options.topic, partitions: [...partitions] }]));
  }

  #resume(partition: number): void {
    if (this.#isStopped) return;
    this.#control(() => this.#consumer.resume([{ topic: this.#options.topic, partitions: [partition] }]));
  }

  /** Runs a command on the consumer. A crashed consumer rejects it, possibly before its crash is reported. */
  #control(command: () => void): void {
    try {
      command();
    } catch (error) {
      this.#ended.resolve(error);
    }
  }
}
