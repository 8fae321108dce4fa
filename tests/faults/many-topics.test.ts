import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { describeWithEngines } from '@tocsin/shared/testing/describe-with-engines.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { percentile, printMeasurements, residentMb } from '@tocsin/shared/testing/figures.ts';
import { EngineRequestCounter, mongoRequestsOf, requestsPer } from '../../tools/bench/count-engine-requests.ts';
import { cpuMs } from '../../tools/bench/process-usage.ts';
import { describeWithOwnEngines } from '../../tools/engines/describe-with-own-engines.ts';
import type { Engine } from '../../tools/engines/engine.ts';
import { startConcurrently, stopConcurrently } from '../../tools/engines/start-concurrently.ts';
import { startMongo } from '../../tools/engines/start-mongo.ts';
import { startRedis } from '../../tools/engines/start-redis.ts';
import { startClusterStack, startEmbeddedStack, type Stack } from '../../tools/stack/start-stack.ts';
import { keepPublishing } from '../ledger/keep-publishing.ts';
import { readSse } from '../ledger/read-sse.ts';
import type { Reader } from '../ledger/reader.ts';
import { createAccount, openStackDocuments, type Client } from '../support/stack.ts';

const topicCount = Number(process.env['TOCSIN_TOPICS'] ?? 3_000);
const streamCount = Number(process.env['TOCSIN_TOPIC_STREAMS'] ?? 600);
/** Several rounds of the work that a node repeats: access checks, counts of connections, checks for lost records. */
const watchedMs = 6_000;
/** Work that follows the last message, such as jobs of a loaded machine, can fall into a watch, but not into all. */
const idleWatches = 3;
const requestsMax = 100;
const patienceMs = 120_000;
/** Of each test; two busy cores store 100 topics per second and open 20 streams per second. */
const timeoutMs = 400_000 + 10 * topicCount + 50 * streamCount;
const openAtOnce = 100;
const env = {
  RATE_LIMITS: 'off',
  TRUST_PROXY: '1',
  MAX_CONNECTIONS: String(streamCount + 1_000),
  EXPO_URL: 'http://127.0.0.1:9',
};

let own: Closers;
beforeEach(() => {
  own = closers();
});
afterEach(() => own.closeAll(), 60_000);

/** Stores the topics while the servers do not run: an embedded store belongs to one process. */
async function fill(stack: Stack): Promise<Client> {
  const store = await openStackDocuments(stack);
  const { user, client } = await createAccount(store, { tier: 'TEAM', urls: stack.urls }).finally(() => store.close());
  for (const server of stack.servers) await server.stop();
  const program = join(import.meta.dirname, 'seed-topics.child.ts');
  const args = ['--disable-warning=ExperimentalWarning', program, user.id, String(topicCount)];
  await promisify(execFile)(process.execPath, args, { env: { PATH: process.env['PATH'], ...stack.env } });
  for (const server of stack.servers) await server.start();
  return client;
}

/** The topics of the streams, spread over all. */
const streamed = Array.from({ length: streamCount }, (_, index) => Math.floor((index * topicCount) / streamCount));

/** A third of the streams is anonymous, a third has an API key, and a third a topic token. */
function credentialOf(n: number): Record<string, string> {
  if (n % 3 === 0) return {};
  return n % 3 === 1 ? { 'X-API-Key': `toc_many-${n}` } : { 'X-Topic-Token': `tk_many-${n}` };
}

/** Opens a stream of each topic. Resolves when all have received the stored message. */
async function openStreams(url: string, onMessage: (message: { id: string }) => void): Promise<Reader[]> {
  const streams: Reader[] = [];
  own.add(async () => {
    await Promise.all(streams.map((stream) => stream.stop()));
  });
  for (let at = 0; at < streamCount; at += openAtOnce) {
    for (const n of streamed.slice(at, at + openAtOnce)) {
      const headers = { 'X-Forwarded-For': `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`, ...credentialOf(n) };
      streams.push(readSse({ urls: [url], topic: `many-${n}`, headers, onMessage }));
    }
    await eventually(() => streams.every(({ count }) => count === 1), { timeoutMs: patienceMs });
  }
  return streams;
}

/** Publishes to all topics of the streams. Resolves with the times until streams have the messages, in ms. */
async function publishToAll(
  url: string,
  streams: readonly Reader[],
  arrivals: ReadonlyMap<string, number>,
): Promise<number[]> {
  const topics = streamed.map((n) => `many-${n}`);
  const publishing = keepPublishing({ urls: [url], topics, publishers: 4, pauseMs: 10 });
  own.add(() => publishing.cutOff());
  await eventually(() => publishing.acked.length >= streamCount, { timeoutMs: patienceMs });
  await publishing.stop();
  const expected = Map.groupBy(publishing.acked, ({ line }) => line.topic);
  await eventually(
    () => {
      const wrong = streams.filter(({ topics: [topic], count }) => count !== 1 + (expected.get(topic!)?.length ?? 0));
      expect(wrong.map(({ name }) => name)).toEqual([]);
    },
    { timeoutMs: patienceMs },
  );
  const sentAt = new Map(publishing.attempts.map(({ line, sentAt: at }) => [line, at]));
  return publishing.acked.map(({ line, id }) => arrivals.get(id)! - sentAt.get(line)!);
}

interface Load {
  /** Of the API node, in percent of a core. */
  readonly cpu: number;
  /** Requests per second; none if the node is embedded. */
  readonly mongo: number;
  readonly redis: number;
}

async function watch(stack: Stack, counter: EngineRequestCounter | undefined): Promise<Load> {
  const pids = stack.apiPids();
  const [cpuBefore, before, begunAt] = [cpuMs(pids), await counter?.read(), performance.now()];
  await pause(counter === undefined ? 1_000 : watchedMs);
  const seconds = (performance.now() - begunAt) / 1_000;
  const cpu = (cpuMs(pids) - cpuBefore) / seconds / 10;
  if (counter === undefined) return { cpu, mongo: 0, redis: 0 };
  const requests = requestsPer(before!, await counter.read(), seconds);
  return { cpu, redis: requests.redis, mongo: mongoRequestsOf(requests) };
}

/** Watches until open streams cost few requests, at most three times. Returns the last load. */
async function watchIdle(stack: Stack, counter: EngineRequestCounter | undefined, without: Load): Promise<Load> {
  let idle = await watch(stack, counter);
  for (let n = 1; n < idleWatches && costOf(idle, without) >= requestsMax; n += 1) idle = await watch(stack, counter);
  return idle;
}

/** The additional requests per second to the engine that gets more. */
const costOf = (idle: Load, without: Load) => Math.max(idle.mongo - without.mongo, idle.redis - without.redis);

const pages = [
  '/health/ready',
  '/api/topics/public?limit=100',
  `/api/topics?limit=100&offset=${Math.floor(topicCount / 4)}`,
  '/api/topics/my?limit=100',
  `/api/topics/many-${topicCount - 1}`,
  '/api/messages/search?q=disk',
  '/api/messages/activity',
];

/** The response times of pages, in milliseconds. */
async function timePages(client: Client): Promise<Record<string, number>> {
  const times: Record<string, number> = {};
  for (const path of pages) {
    const begunAt = performance.now();
    const { status } = await client.call('GET', path);
    expect({ path, status }).toEqual({ path, status: 200 });
    times[path] = Math.round(performance.now() - begunAt);
  }
  return times;
}

async function measure(stack: Stack, counter?: EngineRequestCounter) {
  const client = await fill(stack);
  const url = stack.urls[0]!;
  const arrivals = new Map<string, number>();
  const without = await watch(stack, counter);
  const streams = await openStreams(url, ({ id }) => arrivals.set(id, performance.now()));
  const delays = await publishToAll(url, streams, arrivals);
  const idle = await watchIdle(stack, counter, without);
  const begunAt = performance.now();
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const metricsMs = performance.now() - begunAt;
  const figure = (name: string) => Number(new RegExp(`^${name} (\\S+)`, 'm').exec(metrics)![1]);
  expect(figure('tocsin_open_streams')).toBe(streamCount);
  expect(metrics).not.toContain('many-');
  printMeasurements('many topics', {
    engine: stack.engine,
    topics: topicCount,
    streams: streamCount,
    residentMb: residentMb(stack.apiPids()[0]!),
    loopP99Ms: figure('nodejs_eventloop_lag_p99_seconds') * 1_000,
    loopMaxMs: figure('nodejs_eventloop_lag_max_seconds') * 1_000,
    deliveryP50Ms: percentile(delays, 0.5),
    deliveryP99Ms: percentile(delays, 0.99),
    without,
    idle,
    metricsMs,
    metricsBytes: metrics.length,
    pages: await timePages(client),
  });
  return { without, idle };
}

describe('embedded', () => {
  test(
    'delivers to a stream of each of many topics',
    async () => {
      const stack = await startEmbeddedStack({ env });
      own.add(() => stack.stop());
      await measure(stack);
    },
    timeoutMs,
  );
});

describeWithOwnEngines('on a cluster', () => {
  describeWithEngines('with its own MongoDB and Redis', ({ kafkaBrokers }) => {
    test(
      'delivers to a stream of each of many topics, and open streams cost few requests to MongoDB and Redis',
      async () => {
        // Only this stack uses these two, because the test counts their requests.
        const [mongo, redis] = await startConcurrently<[Engine, Engine]>([startMongo(), startRedis()]);
        own.add(() => stopConcurrently([mongo, redis]));
        const mongoUrl = new URL(mongo.url);
        mongoUrl.pathname = '/tocsin';
        const stack = await startClusterStack({
          kafkaBrokers,
          mongoUrl: mongoUrl.href,
          redisUrl: redis.url,
          jwtSecret: randomBytes(32).toString('hex'),
          layout: 'nodes',
          apiNodes: 1,
          env: { ...env, KAFKA_TOPIC: `many-topics.${randomUUID()}`, KAFKA_PARTITIONS: '12' },
        });
        own.add(() => stack.stop());
        const counter = new EngineRequestCounter({ mongoUrl: mongo.url, redisUrl: redis.url });
        own.add(() => counter.close());
        const { without, idle } = await measure(stack, counter);
        expect(costOf(idle, without)).toBeLessThan(requestsMax);
      },
      timeoutMs,
    );
  });
});
