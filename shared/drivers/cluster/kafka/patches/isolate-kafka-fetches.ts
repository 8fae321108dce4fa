import { setTimeout as sleep } from 'node:timers/promises';
import { settledWithin } from '../../../../async/settled-within.ts';
import { TookTooLong, within } from '../../../../async/within.ts';
import { fetchCollected, type FetchedRecord } from './collect-kafka-fetches.ts';
import { abandonRequests, type KafkajsBroker, type KafkajsBrokerPool } from './hedge-kafka-requests.ts';
import { isBrokerFailure } from './is-broker-failure.ts';
import { patchOnce } from '../../../../platform/patch-library.ts';
import { kafkajsPrototype } from './kafkajs-internals.ts';

interface TopicPartitions {
  readonly topic: string;
  readonly partitions: readonly number[];
}

interface Batch {
  readonly topic: string;
  readonly partition: number;
  /** The offset that was asked for. */
  readonly fetchedOffset: string;
  readonly messages: readonly FetchedRecord[];
}

/** Until this time (`performance.now()`), the consumer sends a heartbeat after each fetch. */
const hastenedUntil = Symbol('tocsin: hastened until');

interface Hastened {
  [hastenedUntil]?: number;
}

interface ConsumerGroup {
  readonly groupId: string;
  readonly sessionTimeout: number;
  /** The time of the last heartbeat. */
  readonly lastRequest: number;
  readonly cluster: Hastened & {
    readonly brokerPool: KafkajsBrokerPool;
    findBroker(broker: { nodeId: number }): Promise<KafkajsBroker>;
    getNodeIds(): readonly string[];
    refreshMetadata(): Promise<void>;
  };
  readonly offsetManager: {
    coordinator: KafkajsBroker;
    nextOffset(topic: string, partition: number): { toString(): string };
  };
  coordinator: KafkajsBroker;
  assigned(): readonly TopicPartitions[];
  /** The assigned partitions that are not paused, by topic. */
  getActiveTopicPartitions(): Readonly<Record<string, ReadonlySet<number>>>;
  filterPartitionsByNode(nodeId: string, partitions: readonly TopicPartitions[]): readonly TopicPartitions[];
  fetch(nodeId: string): Promise<Batch[]>;
  recoverFromFetch(error: Error & { readonly type?: string }): Promise<void>;
  heartbeat(options: { readonly interval: number }): Promise<void>;
}

interface Fetching {
  readonly startedAt: number;
  readonly batches: Promise<Batch[]>;
  isDone: boolean;
}

/** The fetches, recent failures and lookups of a consumer group. */
interface Watch {
  /** By the broker's node ID, until their records are passed on. */
  readonly fetching: Map<string, Fetching>;
  failedAt: number;
  checkedAt: number;
  isRefreshing: boolean;
  isLocating: boolean;
  /** Whether a heartbeat is pending that fetches have waited for. */
  isHeartbeatLate: boolean;
  /** Whether the other brokers know a coordinator of the group. */
  hasCoordinator: boolean;
}

/** The pause before the next fetch while all partitions are paused, as after their assignment; kafkajs waits 250 ms. */
const pausedMs = 20;
/** The pause before the next fetch from a broker that failed or does not lead a partition any more. */
const retryPauseMs = 100;
/** A fetch that takes longer may wait for a dead broker. Otherwise it takes 250 ms plus the transfer. */
const slowMs = 1_000;
/** How often a consumer asks for new leaders after a failure, and how long. */
const refreshIntervalMs = 400;
const watchedMs = 15_000;
/** Long enough for the broker to process the request that the rebalance begins with, and for three fetches. */
const hastenedMs = 1_000;
/** How long fetches wait for a heartbeat, once: its response follows a commit, which may wait for a lost replica. */
const heartbeatMs = 500;
/** kafkajs's types of errors that mean that a partition has another leader. */
const leaderErrors: ReadonlySet<string> = new Set([
  'FENCED_LEADER_EPOCH',
  'LEADER_NOT_AVAILABLE',
  'NOT_LEADER_FOR_PARTITION',
  'UNKNOWN_LEADER_EPOCH',
]);

/**
 * Makes a broker's loss affect only the fetches from this broker, in kafkajs 2.2.4, and finds the new leaders of its
 * partitions. Otherwise a failed fetch stops the fetches from all brokers, a silent broker stops them for its timeout,
 * and partitions without a leader are not looked up again before the metadata expires after five minutes. Also finds
 * the new coordinator of the group, so that the consumer stays a member.
 *
 * Returns whether the patch was applied. It is not applied to versions with other internals.
 */
export function isolateKafkaFetches(): boolean {
  const group = kafkajsPrototype<ConsumerGroup>('consumer/consumerGroup', [
    'assigned',
    'fetch',
    'filterPartitionsByNode',
    'getActiveTopicPartitions',
    'heartbeat',
    'recoverFromFetch',
  ]);
  if (group === undefined) return false;
  patchOnce(group, isolate);
  return true;
}

/**
 * Makes the consumer of this cluster notice a rebalance of its group with the next fetches instead of the next regular
 * heartbeat.
 */
export function hastenHeartbeats(cluster: object): void {
  (cluster as Hastened)[hastenedUntil] = performance.now() + hastenedMs;
}

function isolate(proto: ConsumerGroup): void {
  const watches = new WeakMap<ConsumerGroup, Watch>();
  const watchOf = (group: ConsumerGroup): Watch => {
    const known = watches.get(group) ?? newWatch();
    watches.set(group, known);
    return known;
  };

  // kafkajs stops the fetches from all brokers together, so none may take long.
  const fetch = proto.fetch;
  proto.fetch = async function (this: ConsumerGroup, nodeId) {
    const watch = watchOf(this);
    void refreshIfDue(this, watch);
    if (isPaused(this)) {
      await sleep(pausedMs);
      return [];
    }
    const fetching = watch.fetching.get(nodeId) ?? newFetching(fetchCollected(fetch, this, nodeId));
    watch.fetching.set(nodeId, fetching);
    await settledWithin(slowMs, [fetching.batches]);
    if (!fetching.isDone) return [];
    watch.fetching.delete(nodeId);
    const batches = await fetching.batches;
    return isSlow(fetching) ? batches.filter((batch) => isNext(this, batch)) : batches;
  };

  const recover = proto.recoverFromFetch;
  proto.recoverFromFetch = async function (this: ConsumerGroup, error) {
    if (!isBrokerFailure(error) && !leaderErrors.has(error.type ?? '')) return recover.call(this, error);
    watchOf(this).failedAt = performance.now();
    await sleep(retryPauseMs);
  };

  const heartbeat = proto.heartbeat;
  proto.heartbeat = async function (this: ConsumerGroup, options) {
    const watch = watchOf(this);
    const isHastened = performance.now() < (this.cluster[hastenedUntil] ?? 0);
    // The pending one, if there is one.
    const beat = heartbeat.call(this, isHastened ? { interval: 0 } : options);
    try {
      await within(watch.isHeartbeatLate ? 0 : heartbeatMs, 'a heartbeat', beat);
    } catch (error) {
      if (error instanceof TookTooLong) noteLate(watch, beat);
      else if (!isBrokerFailure(error)) throw error;
      void findCoordinator(this, watch);
      // Without any coordinator, no other member can get the partitions. It moves after up to 11 s.
      if (watch.hasCoordinator && Date.now() - this.lastRequest > 2 * this.sessionTimeout) throw error;
    }
  };
}

const isPaused = (group: ConsumerGroup): boolean =>
  group.assigned().some(({ partitions }) => partitions.length > 0) &&
  Object.values(group.getActiveTopicPartitions()).every(({ size }) => size === 0);

const newWatch = (): Watch => ({
  fetching: new Map(),
  failedAt: -Infinity,
  checkedAt: -Infinity,
  isRefreshing: false,
  isLocating: false,
  isHeartbeatLate: false,
  hasCoordinator: true,
});

function newFetching(batches: Promise<Batch[]>): Fetching {
  const fetching: Fetching = { startedAt: performance.now(), batches, isDone: false };
  const done = () => void (fetching.isDone = true);
  batches.then(done, done);
  return fetching;
}

const isSlow = ({ startedAt }: Fetching) => performance.now() - startedAt > slowMs;

/** Looks for new leaders if a broker or a leader may be lost. Never rejects. */
async function refreshIfDue(group: ConsumerGroup, watch: Watch): Promise<void> {
  const now = performance.now();
  if (watch.isRefreshing || now - watch.checkedAt < refreshIntervalMs) return;
  watch.checkedAt = now;
  watch.isRefreshing = true;
  try {
    const { cluster } = group;
    const isStuck = [...watch.fetching.values()].some(isSlow);
    if (now - watch.failedAt < watchedMs || isStuck || hasLeaderless(group)) await cluster.refreshMetadata();
    for (const nodeId of watch.fetching.keys())
      if (!cluster.getNodeIds().includes(nodeId)) watch.fetching.delete(nodeId);
  } catch {
    // the next check
  } finally {
    watch.isRefreshing = false;
  }
}

function hasLeaderless(group: ConsumerGroup): boolean {
  return group.filterPartitionsByNode('-1', group.assigned()).some(({ partitions }) => partitions.length > 0);
}

/** Whether the partition is still read, at this offset: a former leader may respond after the new one. */
function isNext(group: ConsumerGroup, { topic, partition, fetchedOffset }: Batch): boolean {
  const isAssigned = group.assigned().some((one) => one.topic === topic && one.partitions.includes(partition));
  return isAssigned && group.offsetManager.nextOffset(topic, partition).toString() === fetchedOffset;
}

function noteLate(watch: Watch, beat: Promise<void>): void {
  watch.isHeartbeatLate = true;
  const done = () => void (watch.isHeartbeatLate = false);
  beat.then(done, done);
}

async function findCoordinator(group: ConsumerGroup, watch: Watch): Promise<void> {
  if (watch.isLocating) return;
  watch.isLocating = true;
  const { groupId, cluster } = group;
  try {
    const { coordinator } = await cluster.brokerPool.withBroker(({ broker }) =>
      broker.findGroupCoordinator({ groupId, coordinatorType: 0 }),
    );
    watch.hasCoordinator = true;
    const found = await cluster.findBroker(coordinator);
    const lost = group.coordinator;
    if (found === lost) return;
    group.coordinator = group.offsetManager.coordinator = found;
    abandonRequests(lost); // otherwise the next heartbeat would wait for the last one
  } catch (error) {
    if ((error as { type?: unknown }).type === 'GROUP_COORDINATOR_NOT_AVAILABLE') watch.hasCoordinator = false;
  } finally {
    watch.isLocating = false;
  }
}
