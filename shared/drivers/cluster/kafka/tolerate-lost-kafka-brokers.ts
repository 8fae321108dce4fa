import { createRequire } from 'node:module';

type Parse = (data: unknown) => Promise<unknown>;
interface Response {
  parse: Parse;
}
interface Metadata {
  readonly topicMetadata: readonly { readonly partitionMetadata: readonly unknown[] }[];
}

interface TopicOffsets {
  readonly topic: string;
  readonly partitions: readonly unknown[];
}
interface Cluster {
  findLeaderForPartitions(topic: string, partitions: readonly number[]): Record<string, number[]>;
  fetchTopicsOffset(topics: readonly TopicOffsets[]): Promise<TopicOffsets[]>;
}

interface BrokerPool {
  readonly brokers: Readonly<Record<string, { isConnected(): boolean }>>;
  findBroker(broker: { nodeId: string }): Promise<unknown>;
  withBroker<T>(ask: (from: { nodeId: string; broker: unknown }) => Promise<T>): Promise<T>;
}

const patched = Symbol('tocsin: tolerates lost brokers');
const versions = { metadata: 6, produce: 7 } as const;

/**
 * Limits the effect of a lost broker on kafkajs 2.2.4 (https://github.com/tulios/kafkajs/issues/1247). It then asks another
 * broker for metadata, and returns the errors of partitions in its responses. Without this, one partition without a leader
 * fails the metadata of all, so that nothing can be sent or read, and one partition's error hides which records of a request
 * were appended. A partition without a leader has the leader -1, and requests leave it out.
 *
 * Returns whether the patch was applied. It is not applied to versions with other internals.
 */
export function tolerateLostKafkaBrokers(): boolean {
  const metadata = responses('metadata', versions.metadata);
  const produce = responses('produce', versions.produce);
  const cluster = load<{ prototype?: Cluster }>('cluster/index')?.prototype;
  const pool = load<{ prototype?: BrokerPool }>('cluster/brokerPool')?.prototype;
  if (typeof pool?.withBroker !== 'function') return false;
  if (metadata === undefined || produce === undefined || typeof cluster?.findLeaderForPartitions !== 'function')
    return false;
  for (const response of metadata)
    patch(response, (parse) => async (data) => {
      const { topicMetadata, ...rest } = data as Metadata;
      await parse({ ...rest, topicMetadata: topicMetadata.map((topic) => ({ ...topic, partitionMetadata: [] })) });
      return data;
    });
  for (const response of produce) patch(response, () => (data) => Promise.resolve(data));
  leaveOutLeaderless(cluster);
  askEachBroker(pool);
  return true;
}

/** kafkajs fails if the broker that it happens to ask cannot be reached. */
function askEachBroker(pool: BrokerPool): void {
  if (patched in pool) return;
  const askOne = pool.withBroker;
  pool.withBroker = async function <T>(
    this: BrokerPool,
    ask: (from: { nodeId: string; broker: unknown }) => Promise<T>,
  ): Promise<T> {
    const shuffled = Object.keys(this.brokers).sort(() => Math.random() - 0.5);
    const isConnected = (nodeId: string) => this.brokers[nodeId]?.isConnected() === true;
    if (shuffled.length === 0) return askOne.call(this, ask) as Promise<T>; // throws the error that makes kafkajs load them
    let failure: unknown;
    for (const nodeId of [...shuffled.filter(isConnected), ...shuffled.filter((id) => !isConnected(id))]) {
      try {
        return await ask({ nodeId, broker: await this.findBroker({ nodeId }) });
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  };
  Object.defineProperty(pool, patched, { value: true });
}

function leaveOutLeaderless(cluster: Cluster): void {
  if (patched in cluster) return;
  const find = cluster.findLeaderForPartitions;
  cluster.findLeaderForPartitions = function (this: Cluster, topic, partitions) {
    const { ['-1']: _leaderless, ...byLeader } = find.call(this, topic, partitions);
    return byLeader;
  };
  const fetch = cluster.fetchTopicsOffset;
  cluster.fetchTopicsOffset = async function (this: Cluster, topics) {
    const found = await fetch.call(this, topics);
    const missing = topics.filter(({ topic }) => !found.some((one) => one.topic === topic));
    return [...found, ...missing.map(({ topic }) => ({ topic, partitions: [] }))];
  };
  Object.defineProperty(cluster, patched, { value: true });
}

function patch(response: Response, change: (parse: Parse) => Parse): void {
  if (patched in response) return;
  response.parse = change(response.parse);
  Object.defineProperty(response, patched, { value: true });
}

function responses(request: string, lastVersion: number): Response[] | undefined {
  const loaded = Array.from({ length: lastVersion + 1 }, (_, version) =>
    load<Response>(`protocol/requests/${request}/v${version}/response`),
  );
  const isKnown = (response: Response | undefined): response is Response => typeof response?.parse === 'function';
  return loaded.every(isKnown) ? loaded : undefined;
}

function load<T>(file: string): T | undefined {
  try {
    return createRequire(import.meta.url)(`kafkajs/src/${file}`) as T;
  } catch {
    return undefined; // the file does not exist in other versions
  }
}
