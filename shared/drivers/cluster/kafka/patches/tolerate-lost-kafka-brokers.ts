import { settledWithin } from '../../../../async/settled-within.ts';
import { hedgeKafkaRequests } from './hedge-kafka-requests.ts';
import { isBrokerFailure } from './is-broker-failure.ts';
import { isolateKafkaFetches } from './isolate-kafka-fetches.ts';
import { patchOnce } from '../../../../platform/patch-library.ts';
import { kafkajsFile, kafkajsPrototype } from './kafkajs-internals.ts';

type Parse = (data: unknown) => Promise<unknown>;
interface Response {
  parse: Parse;
}
interface Metadata {
  readonly topicMetadata: readonly { readonly partitionMetadata: readonly unknown[] }[];
}

interface TopicOffsets {
  readonly topic: string;
  readonly partitions: readonly { readonly partition: number }[];
}
interface Cluster {
  readonly brokerPool: { metadataExpireAt: number | null };
  findLeaderForPartitions(topic: string, partitions: readonly number[]): Record<string, number[]>;
  fetchTopicsOffset(topics: readonly TopicOffsets[]): Promise<TopicOffsets[]>;
}

const versions = { metadata: 6, produce: 7 } as const;
/** How long the offsets of one leader may take after those of another one. */
const stragglerMs = 500;

/**
 * Limits the effect of a lost broker on kafkajs 2.2.4 (https://github.com/tulios/kafkajs/issues/1247). Its metadata and
 * produce responses then contain the errors of partitions. Without this, one partition without a leader fails the
 * metadata of all, so that nothing can be sent or read, and one partition's error hides which records of a request were
 * appended. A partition without a leader has the leader -1, and requests leave it out. Requests for offsets also leave
 * out the partitions of brokers that do not respond.
 *
 * Returns whether all patches were applied. They are not applied to versions with other internals.
 */
export function tolerateLostKafkaBrokers(): boolean {
  const metadata = responses('metadata', versions.metadata);
  const produce = responses('produce', versions.produce);
  const cluster = kafkajsPrototype<Cluster>('cluster/index', ['findLeaderForPartitions', 'fetchTopicsOffset']);
  if (metadata === undefined || produce === undefined || cluster === undefined) return false;
  if (!hedgeKafkaRequests() || !isolateKafkaFetches()) return false;
  for (const response of metadata) patchOnce(response, keepErrorsOfPartitions);
  for (const response of produce)
    patchOnce(response, () => {
      response.parse = (data) => Promise.resolve(data);
    });
  patchOnce(cluster, leaveOutLostPartitions);
  return true;
}

function keepErrorsOfPartitions(response: Response): void {
  const { parse } = response;
  response.parse = async (data) => {
    const { topicMetadata, ...rest } = data as Metadata;
    await parse({ ...rest, topicMetadata: topicMetadata.map((topic) => ({ ...topic, partitionMetadata: [] })) });
    return data;
  };
}

function leaveOutLostPartitions(cluster: Cluster): void {
  const find = cluster.findLeaderForPartitions;
  cluster.findLeaderForPartitions = function (this: Cluster, topic, partitions) {
    const { ['-1']: _leaderless, ...byLeader } = find.call(this, topic, partitions);
    return byLeader;
  };
  const fetch = cluster.fetchTopicsOffset;
  cluster.fetchTopicsOffset = async function (this: Cluster, topics) {
    const ofLeaders = topics.flatMap((topic) => {
      const ids = topic.partitions.map(({ partition }) => partition);
      return Object.values(this.findLeaderForPartitions(topic.topic, ids)).map((led) => ({
        ...topic,
        partitions: topic.partitions.filter(({ partition }) => led.includes(partition)),
      }));
    });
    const found = await responsesOf(ofLeaders.map((part) => fetch.call(this, [part])));
    // Reads the leaders again before the next request: the partitions of a lost broker get another one.
    if (found.length < ofLeaders.length) this.brokerPool.metadataExpireAt = null;
    return topics.map(({ topic }) => ({
      topic,
      partitions: found.flat().flatMap((part) => (part.topic === topic ? part.partitions : [])),
    }));
  };
}

/**
 * Resolves with the results of the brokers that responded. Rejects if none did, or if one responded with an error: the
 * metadata may be stale.
 */
async function responsesOf<T>(requests: readonly Promise<T>[]): Promise<T[]> {
  const found: T[] = [];
  const failures: unknown[] = [];
  const settled = requests.map((request) =>
    request.then(
      (value) => void found.push(value),
      (error: unknown) => void failures.push(error),
    ),
  );
  await Promise.any(requests).catch(() => undefined); // the failures have the reasons
  await settledWithin(stragglerMs, settled);
  for (const failure of failures) if (found.length === 0 || !isBrokerFailure(failure)) throw failure;
  return found;
}

function responses(request: string, lastVersion: number): Response[] | undefined {
  const loaded = Array.from({ length: lastVersion + 1 }, (_, version) =>
    kafkajsFile<Response>(`protocol/requests/${request}/v${version}/response`),
  );
  const isKnown = (response: Response | undefined): response is Response => typeof response?.parse === 'function';
  return loaded.every(isKnown) ? loaded : undefined;
}
