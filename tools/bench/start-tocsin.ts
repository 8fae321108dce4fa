import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAccount, createTopic, openStackDocuments } from '../../tests/acceptance/stack.ts';
import { startClusterStack, startEmbeddedStack, type Stack } from '../stack/start-stack.ts';
import type { Target } from './target.ts';

/** The engines of a cluster, and their processes where they are ours. */
export interface BenchEngines {
  readonly kafkaBrokers: string;
  readonly mongoUrl: string;
  readonly redisUrl: string;
  readonly pids: readonly number[];
}

export interface TocsinOptions {
  /** Undefined: embedded. */
  readonly engines: BenchEngines | undefined;
  /** How many public topics to create. */
  readonly topics: number;
  /** Where the servers write CPU profiles as they end. */
  readonly profileDir: string | undefined;
}

export interface BenchTopic {
  readonly id: string;
  readonly name: string;
}

/** A fresh installation with topics. */
export interface TocsinTarget extends Target {
  readonly topics: readonly BenchTopic[];
  /** What opens the same stores. */
  readonly env: Readonly<Record<string, string>>;
  /** Ends the servers and keeps the data until `stop`. */
  stopServers(): Promise<void>;
}

/** Starts Tocsin on empty data, without rate limits, quiet. */
export async function startTocsin(options: TocsinOptions): Promise<TocsinTarget> {
  const dir = mkdtempSync(join(tmpdir(), 'tocsin-bench-'));
  const remove = () => rmSync(dir, { recursive: true, force: true });
  try {
    const stack = await startStack(options, dir);
    const stop = () => stack.stop().finally(remove);
    try {
      return {
        name: 'tocsin', env: stack.env, topics: await createTopics(stack, options.topics),
        ports: stack.urls.map((url) => Number(new URL(url).port)),
        serverPids: stack.servers.map((server) => server.pid),
        enginePids: options.engines?.pids ?? [],
        stopServers: () => stack.stop(),
        stop,
      };
    } catch (error) {
      await stop();
      throw error;
    }
  } catch (error) {
    remove();
    throw error;
  }
}

/** Starts the servers on empty data in the directory. */
export function startStack({ engines, profileDir }: Omit<TocsinOptions, 'topics'>, dir: string): Promise<Stack> {
  const profiling: Record<string, string> = profileDir === undefined ? {} : { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${profileDir}` };
  const env = { RATE_LIMITS: 'off', LOG_LEVEL: 'info', NODE_ENV: 'production', ...profiling };
  if (engines === undefined) return startEmbeddedStack({ env, dir });
  const run = randomBytes(4).toString('hex');
  const mongoUrl = new URL(engines.mongoUrl);
  mongoUrl.pathname = `/tocsin_${run}`;
  return startClusterStack({
    kafkaBrokers: engines.kafkaBrokers, mongoUrl: mongoUrl.href, redisUrl: engines.redisUrl, jwtSecret: randomBytes(32).toString('hex'),
    env: { KAFKA_TOPIC: `tocsin.${run}`, KAFKA_PARTITIONS: '4', ...env }, dir,
  });
}

async function createTopics(stack: Stack, count: number): Promise<BenchTopic[]> {
  const store = await openStackDocuments(stack);
  try {
    const account = await createAccount(store, { tier: 'TEAM', urls: stack.urls });
    const topics: BenchTopic[] = [];
    while (topics.length < count) topics.push(await createTopic(account));
    return topics;
  } finally {
    await store.close();
  }
}
