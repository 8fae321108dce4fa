import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { cuttableLink, type CuttableLink } from '@tocsin/shared/testing/cuttable-link.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { startEngines, type Engines } from '../../tools/engines/start-engines.ts';
import { ServerProcess } from '../../tools/stack/server-process.ts';
import { startClusterStack, type Stack } from '../../tools/stack/start-stack.ts';
import { createAccount, createTopic, newTopicName, openStackDocuments, type Account } from '../support/stack.ts';
import { openLossyRedisLink, type LossyRedisLink } from './lossy-redis-link.ts';

/** An installation with its own engines, which tests may break. */
export interface Installation {
  readonly engines: Engines;
  readonly stack: Stack;
  /** Two API nodes without rate limits. */
  readonly urls: readonly string[];
  /** A third API node with rate limits, whose connection to Redis drops selected messages. */
  readonly third: { readonly server: ServerProcess; readonly url: string; readonly link: LossyRedisLink };
  /** The connection of the fan-out to Redis. */
  readonly fanoutLink: CuttableLink;
  readonly account: Account;
  /** Another account with an unused rate limit. */
  newAccount(): Promise<Account>;
  /** Public topics on different partitions. */
  newTopics(count: number): Promise<string[]>;
  /** Resolves when every node has answered a publish that passed the fan-out. */
  serves(): Promise<void>;
  /** The running processes of all servers. */
  pids(): number[];
  stop(): Promise<void>;
}

/** The installation as tests use it. */
export interface FaultTest extends Installation {
  /** Closes with the test: outages, publishers, readers. */
  readonly own: Closers;
}

const servesMsMax = 60_000;
const jumpingClock = new URL('jumping-clock.ts', import.meta.url).href;

export async function startInstallation(): Promise<Installation> {
  const own = closers();
  try {
    const engines = await startEngines({ report: () => undefined });
    own.add(() => engines.stop());
    const mongoUrl = new URL(engines.mongo.url);
    mongoUrl.pathname = '/tocsin';
    const clocksDir = mkdtempSync(join(tmpdir(), 'tocsin-clocks-'));
    own.add(() => rmSync(clocksDir, { recursive: true }));
    const dir = process.env['TOCSIN_FAULTS_DIR']; // shows where the servers' logs are
    const redis = new URL(engines.redis.url);
    const fanoutLink = await cuttableLink({ host: redis.hostname, port: Number(redis.port) });
    own.add(() => fanoutLink.close());
    const stack = await startClusterStack({
      firstRoot: process.env['TOCSIN_EARLIER_VERSION'],
      serviceEnv: { fanout: { REDIS_URL: `redis://127.0.0.1:${fanoutLink.port}` } },
      ...(dir === undefined ? {} : { dir }),
      kafkaBrokers: engines.kafka.url,
      mongoUrl: mongoUrl.href,
      redisUrl: engines.redis.url,
      jwtSecret: randomBytes(32).toString('hex'),
      env: {
        RATE_LIMITS: 'off',
        KAFKA_PARTITIONS: '4',
        LOG_LEVEL: 'info',
        EXPO_URL: 'http://127.0.0.1:9',
        RETENTION_SCHEDULE: '1s',
        NODE_OPTIONS: `--import=${jumpingClock}`,
        CLOCKS_DIR: clocksDir,
      },
    });
    own.add(() => stack.stop());
    const third = await startThird(stack, engines);
    own.add(() => third.stop());
    const newAccount = async () => {
      const store = await openStackDocuments(stack);
      try {
        return await createAccount(store, { tier: 'TEAM', urls: stack.urls });
      } finally {
        await store.close();
      }
    };
    const account = await newAccount();
    const newTopics = (count: number) => createTopics(account, count);
    return {
      engines,
      stack,
      third,
      fanoutLink,
      account,
      newAccount,
      newTopics,
      urls: stack.urls,
      pids: () => [...stack.servers, third.server].filter(({ isRunning }) => isRunning).map(({ pid }) => pid),
      serves: () => servesAll([...stack.urls, third.url], account, newTopics),
      stop: () => own.closeAll(),
    };
  } catch (error) {
    await own.closeAll();
    throw error;
  }
}

async function startThird(stack: Stack, engines: Engines) {
  const { hostname, port } = new URL(engines.redis.url);
  const link = await openLossyRedisLink({ host: hostname, port: Number(port) });
  const dir = mkdtempSync(join(tmpdir(), 'tocsin-third-'));
  const server = new ServerProcess({
    name: 'api3',
    args: ['services/api/main.ts'],
    logFile: join(dir, 'api3.log'),
    env: { ...stack.env, RATE_LIMITS: 'on', REDIS_URL: `redis://127.0.0.1:${link.port}` },
  });
  const stop = async () => {
    await server.stop();
    await link.close();
    rmSync(dir, { recursive: true });
  };
  try {
    await server.start();
  } catch (error) {
    await stop();
    throw error;
  }
  return { server, url: server.url, link, stop };
}

async function createTopics(account: Account, count: number): Promise<string[]> {
  return Promise.all(
    Array.from({ length: count }, async () => (await createTopic(account, { name: newTopicName() })).name),
  );
}

async function servesAll(
  urls: readonly string[],
  account: Account,
  newTopics: Installation['newTopics'],
): Promise<void> {
  const [topic] = await eventually(() => newTopics(1), { timeoutMs: servesMsMax, intervalMs: 250 });
  for (const url of urls) {
    const id = await eventually(
      async () => {
        const answer = await fetch(`${url}/${topic}`, {
          method: 'POST',
          body: 'probe',
          headers: authorization(account),
        });
        const body = (await answer.json()) as { id: string };
        return answer.status === 200 && body.id;
      },
      { timeoutMs: servesMsMax, intervalMs: 100 },
    );
    await eventually(
      async () => {
        const page = (await (
          await fetch(`${url}/api/topics/${topic}/log`, { headers: authorization(account) })
        ).json()) as { records?: { message: { id: string } }[] };
        return page.records?.some(({ message }) => message.id === id) ?? false;
      },
      { timeoutMs: servesMsMax, intervalMs: 100 },
    );
  }
}

export function authorization(account: Account): { Authorization: string } {
  return { Authorization: `Bearer ${account.client.token}` };
}
