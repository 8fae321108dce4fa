import kafkajs from 'kafkajs';
import { hedged } from '../../../../async/hedged.ts';
import { isBrokerFailure } from './is-broker-failure.ts';
import { patchOnce } from '../../../../platform/patch-library.ts';
import { kafkajsPrototype } from './kafkajs-internals.ts';

interface RequestQueue {
  readonly inflight: ReadonlyMap<number, { readonly sentAt: number | null }>;
  rejectAll(error: Error): void;
}

/** A broker as kafkajs represents it. */
export interface KafkajsBroker {
  readonly versions: unknown;
  readonly connectionPool: {
    readonly host: string;
    readonly port: number;
    readonly pool: readonly { readonly requestQueue: RequestQueue }[];
  };
  isConnected(): boolean;
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  metadata(topics: readonly string[]): Promise<unknown>;
  findGroupCoordinator(group: {
    readonly groupId: string;
    readonly coordinatorType: number;
  }): Promise<{ readonly coordinator: { readonly nodeId: number } }>;
}

/** The brokers that a kafkajs client knows. */
export interface KafkajsBrokerPool {
  readonly brokers: Readonly<Record<string, KafkajsBroker>>;
  withBroker<T>(ask: (from: { nodeId: string; broker: KafkajsBroker }) => Promise<T>): Promise<T>;
}

interface BrokerPool extends KafkajsBrokerPool {
  readonly rootLogger: unknown;
  readonly connectionPoolBuilder: { build(): Promise<KafkajsBroker['connectionPool']> };
  readonly createBroker: (options: object) => KafkajsBroker;
  seedBroker: KafkajsBroker | undefined;
  versions: unknown;
  connect(): Promise<void>;
  findBroker(broker: { nodeId: string }): Promise<KafkajsBroker>;
  findConnectedBroker(): Promise<Pick<KafkajsBroker, 'metadata'>>;
}

/** A response usually takes some milliseconds. After this time, another broker is asked as well. */
const hedgeMs = 250;
/** A broker with a request older than this is the last one to be asked. A fetch waits 250 ms for records. */
const overdueMs = 600;
/** How long the end of a connection waits for its last responses. */
const lastResponsesMs = 500;

/**
 * Makes kafkajs 2.2.4 ask another broker if one does not respond to a request that any broker can answer: to connect,
 * for metadata, and for a group's coordinator. Otherwise a silent broker fails such requests, and the end of its
 * connection waits for its responses.
 *
 * Returns whether the patches were applied. They are not applied to versions with other internals.
 */
export function hedgeKafkaRequests(): boolean {
  const pool = kafkajsPrototype<BrokerPool>('cluster/brokerPool', [
    'connect',
    'findBroker',
    'findConnectedBroker',
    'withBroker',
  ]);
  const broker = kafkajsPrototype<KafkajsBroker>('broker/index', ['connect', 'disconnect']);
  const queue = kafkajsPrototype<RequestQueue>('network/requestQueue/index', ['rejectAll']);
  if (pool === undefined || broker === undefined || queue === undefined) return false;
  patchOnce(pool, hedgePool);
  patchOnce(broker, limitLastResponses);
  return true;
}

/** Fails the requests that the broker has not responded to. */
export function abandonRequests({ connectionPool: { host, port, pool } }: KafkajsBroker): void {
  for (const { requestQueue } of pool)
    requestQueue.rejectAll(
      new kafkajs.KafkaJSConnectionError('The broker does not respond', { broker: `${host}:${port}` }),
    );
}

function isOverdue({ connectionPool }: KafkajsBroker): boolean {
  const sentBefore = Date.now() - overdueMs;
  return connectionPool.pool.some(({ requestQueue }) =>
    [...requestQueue.inflight.values()].some(({ sentAt }) => sentAt !== null && sentAt < sentBefore),
  );
}

function hedgePool(pool: BrokerPool): void {
  const askOne = pool.withBroker;
  pool.withBroker = async function <T>(
    this: BrokerPool,
    ask: (from: { nodeId: string; broker: KafkajsBroker }) => Promise<T>,
  ): Promise<T> {
    const shuffled = Object.entries(this.brokers).sort(() => Math.random() - 0.5);
    // Throws the error that makes kafkajs load them.
    if (shuffled.length === 0) return askOne.call(this, ask) as Promise<T>;
    const rank = ([, broker]: [string, KafkajsBroker]) => (isOverdue(broker) ? 2 : broker.isConnected() ? 0 : 1);
    const attempts = shuffled
      .sort((a, b) => rank(a) - rank(b))
      .map(
        ([nodeId]) =>
          async () =>
            ask({ nodeId, broker: await this.findBroker({ nodeId }) }),
      );
    return hedged(attempts, hedgeMs);
  };

  const findConnected = pool.findConnectedBroker;
  pool.findConnectedBroker = async function (this: BrokerPool) {
    if (Object.keys(this.brokers).length === 0) return findConnected.call(this);
    const metadata: KafkajsBroker['metadata'] = async (topics) => {
      try {
        return await this.withBroker(({ broker }) => broker.metadata(topics));
      } catch (error) {
        if (!isBrokerFailure(error)) throw error;
        // Tries the configured brokers, which may have changed.
        return (await findConnected.call(this)).metadata(topics);
      }
    };
    return { metadata };
  };

  const connect = pool.connect;
  pool.connect = async function (this: BrokerPool) {
    if (this.seedBroker === undefined) await connectToAny(this).catch(() => undefined); // kafkajs tries again
    return connect.call(this);
  };
}

/** Connects to one of the configured brokers. */
async function connectToAny(pool: BrokerPool): Promise<void> {
  const seeds: KafkajsBroker[] = [];
  for (;;) {
    const connectionPool = await pool.connectionPoolBuilder.build(); // the next one, or the first one after the last
    if (connectionPool.host === seeds[0]?.connectionPool.host && connectionPool.port === seeds[0].connectionPool.port)
      break;
    seeds.push(pool.createBroker({ connectionPool, logger: pool.rootLogger }));
  }
  if (seeds.length === 1) return;
  const connected = await hedged(
    seeds.map((seed) => () => seed.connect().then(() => seed)),
    hedgeMs,
  );
  pool.seedBroker = connected;
  pool.versions = connected.versions;
  for (const seed of seeds) if (seed !== connected) seed.disconnect().catch(() => undefined); // it may be connecting
}

function limitLastResponses(broker: KafkajsBroker): void {
  const disconnect = broker.disconnect;
  broker.disconnect = async function (this: KafkajsBroker) {
    if (isOverdue(this)) abandonRequests(this);
    const timer = setTimeout(() => abandonRequests(this), lastResponsesMs);
    await disconnect.call(this).finally(() => clearTimeout(timer));
  };
}
