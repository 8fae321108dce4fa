import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '@tocsin/shared/platform/load-config.ts';
import { removeInstallation } from '@tocsin/shared/testing/remove-installation.ts';
import { createAccount, createTopic, openStackDocuments } from '../../tests/support/stack.ts';
import { startClusterStack, startEmbeddedStack, type Replicas, type Stack } from '../stack/start-stack.ts';
import type { Target } from './target.ts';

/** The engines of a cluster, with the pids of those that the benchmark started. */
export interface BenchEngines {
  readonly kafkaBrokers: string;
  readonly mongoUrl: string;
  readonly redisUrl: string;
  readonly pids: Readonly<Record<string, number>>;
}

export interface TocsinOptions {
  /** Undefined: embedded. */
  readonly engines: BenchEngines | undefined;
  /** Number of public topics to create. */
  readonly topics: number;
  /** Directory for CPU profiles, which the servers write on exit. */
  readonly profileDir: string | undefined;
  /** Additional configuration. */
  readonly env?: Readonly<Record<string, string>>;
  /** API nodes of a cluster; default 2. */
  readonly apiNodes?: number;
  /** Processes of the other services of a cluster; default 1 each. */
  readonly replicas?: Replicas;
}

export interface BenchTopic {
  readonly id: string;
  readonly name: string;
}

/** A new installation with topics. */
export interface TocsinTarget extends Target {
  readonly topics: readonly BenchTopic[];
  /** Configuration that opens the same stores. */
  readonly env: Readonly<Record<string, string>>;
  /** Stops the servers and keeps the data until `stop`. */
  stopServers(): Promise<void>;
}

/** Starts Tocsin on empty data, without rate limits and with few log lines. */
export async function startTocsin(options: TocsinOptions): Promise<TocsinTarget> {
  const dir = mkdtempSync(join(tmpdir(), 'tocsin-bench-'));
  const remove = () => rmSync(dir, { recursive: true, force: true });
  try {
    const stack = await startStack(options, dir);
    const stop = () =>
      stack
        .stop()
        .then(() => removeRun(stack))
        .finally(remove);
    try {
      return {
        name: 'tocsin',
        env: stack.env,
        topics: await createTopics(stack, options.topics),
        ports: stack.urls.map((url) => Number(new URL(url).port)),
        serverPids: stack.servers.map((server) => server.pid),
        enginePids: Object.values(options.engines?.pids ?? {}),
        pids: {
          ...Object.fromEntries(stack.servers.map(({ name, pid }) => [name, pid])),
          ...options.engines?.pids,
        },
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

/** Passes the tracing variables of the benchmark's environment on. */
const tracingVariables = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (name.startsWith('OTEL_') ? [[name, value!]] : [])),
  );

/**
 * Starts the servers on the data of the directory, which may be empty. On a cluster the data has unique names, which
 * the directory stores.
 */
export function startStack(
  { engines, profileDir, env: more, apiNodes, replicas }: Omit<TocsinOptions, 'topics'>,
  dir: string,
): Promise<Stack> {
  const profiling = profileDir === undefined ? '' : `--cpu-prof --cpu-prof-dir=${profileDir}`;
  const env = {
    RATE_LIMITS: 'off',
    LOG_LEVEL: 'info',
    NODE_ENV: 'production',
    ...tracingVariables(),
    ...more,
    NODE_OPTIONS: `${profiling} ${more?.['NODE_OPTIONS'] ?? ''}`,
  };
  if (engines === undefined) return startEmbeddedStack({ env, dir });
  const run = runOf(dir);
  const mongoUrl = new URL(engines.mongoUrl);
  mongoUrl.pathname = `/tocsin_${run}`;
  return startClusterStack({
    kafkaBrokers: engines.kafkaBrokers,
    mongoUrl: mongoUrl.href,
    redisUrl: engines.redisUrl,
    jwtSecret: randomBytes(32).toString('hex'),
    env: { KAFKA_TOPIC: `tocsin.${run}`, KAFKA_PARTITIONS: '4', ...env },
    ...(apiNodes === undefined ? {} : { apiNodes }),
    ...(replicas === undefined ? {} : { replicas }),
    dir,
  });
}

function runOf(dir: string): string {
  const file = join(dir, 'run');
  if (existsSync(file)) return readFileSync(file, 'utf8');
  mkdirSync(dir, { recursive: true });
  const run = randomBytes(4).toString('hex');
  writeFileSync(file, run);
  return run;
}

/** Removes the data of a stopped stack from the engines of its cluster. */
export function removeRun({ env }: Stack): Promise<void> {
  return removeInstallation(loadConfig({ ...env }, '/nonexistent'));
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
