import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { topics as topicCollection } from '@tocsin/shared/collections/topics.ts';
import { Client, createAccount, createTopic, openStackDocuments, type Account } from '../../tests/support/stack.ts';
import type { Stack } from '../stack/start-stack.ts';
import type { BenchSize } from './bench-size.ts';
import type { PublishLoad, PublishResult } from './generate-publishes.ts';
import type { CpuPerOperation } from './count-cpu.ts';
import { median, type Percentiles } from './percentiles.ts';
import { runGenerator } from './run-generator.ts';
import type { ExpiredLoad } from './seed-expired.ts';
import { removeRun, startStack, type TocsinOptions } from './start-tocsin.ts';

/** Effect of removing a third of a store on concurrent publishes. */
export interface RetentionFigures {
  readonly messages: number;
  readonly expired: number;
  readonly planMs: number;
  readonly removed: number;
  /** Excludes the pauses for measuring publishes without the removal. */
  readonly removeSeconds: number;
  /** Spans while the removal was paused, alternating with `concurrent` spans. */
  readonly alone: readonly PublishSpan[];
  readonly concurrent: readonly PublishSpan[];
  /** Median over the turns of the ratio of p99 during the removal to p99 without it. */
  readonly timesP99: number;
  /** Error of the topics' message counts after the removal. */
  readonly drift: number;
}

/** Publishes at a constant rate for some seconds. */
export interface PublishSpan {
  readonly publishes: number;
  readonly latencyMs: Percentiles;
  /** CPU time of all processes per publish, including the removal; of the engines only if their processes are known. */
  readonly cpuUs: CpuPerOperation;
}

const adminToken = 'the-operator-of-the-bench';
const topicCount = 10;
const seedSecondsMax = 1_800;
const runSecondsMax = 7_200;
const warmUpSeconds = 3;
/**
 * Number of alternations between publishes without and with the removal. Short turns cancel out slow changes of the
 * machine's speed.
 */
const turns = 6;
/** A paused run continues at the next slot. */
const schedule = '5s';

/**
 * Fills a store, removes the expired messages while publishing at a constant rate, and counts the remaining messages.
 */
export async function measureRetention(
  size: BenchSize['retention'],
  options: Omit<TocsinOptions, 'topics'>,
): Promise<RetentionFigures> {
  const dir = mkdtempSync(join(tmpdir(), 'tocsin-bench-'));
  try {
    const stack = await startStack({ ...options, env: { ADMIN_TOKEN: adminToken, RETENTION_SCHEDULE: schedule } }, dir);
    try {
      return await measure(stack, size, Object.values(options.engines?.pids ?? {}));
    } finally {
      await stack.stop();
      await removeRun(stack);
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function measure(
  stack: Stack,
  size: BenchSize['retention'],
  enginePids: readonly number[],
): Promise<RetentionFigures> {
  const { messages, publishesPerSecond, secondsMax } = size;
  const expired = Math.floor(messages / 3);
  const { account, topics } = await fill(stack, { messages, expired });
  const operator = new Client(adminToken, stack.urls);
  const load: PublishLoad = {
    ports: stack.urls.map((url) => Number(new URL(url).port)),
    serverPids: stack.servers.map(({ pid }) => pid),
    enginePids,
    paths: topics.map((topic) => `/${topic}`),
    connections: 32,
    requests: 10_000_000,
    perSecond: publishesPerSecond,
    secondsMax,
    textBytes: 200,
  };
  let published = 0;
  const publish = async (seconds = secondsMax): Promise<PublishSpan> => {
    const { done, not200, latencyMs, cpuUs } = await runGenerator<PublishResult>(
      'generate-publishes.ts',
      { ...load, secondsMax: seconds },
      { secondsMax: seconds + 60 },
    );
    published += done - not200;
    return { publishes: done, latencyMs, cpuUs };
  };
  await publish(warmUpSeconds);
  const askedAt = performance.now();
  await operator.call('GET', '/admin/retention/plan');
  const planMs = performance.now() - askedAt;
  const figures = await publishInTurns(operator, publish);
  return {
    messages,
    expired,
    planMs,
    ...figures,
    timesP99: timesP99Of(figures),
    drift: (await countAll(account, topics)) - (messages - expired + published),
  };
}

function timesP99Of({ alone, concurrent }: Pick<RetentionFigures, 'alone' | 'concurrent'>): number {
  return median(
    concurrent.slice(0, alone.length).map(({ latencyMs }, turn) => latencyMs.p99 / alone[turn]!.latencyMs.p99),
  );
}

type TurnFigures = Pick<RetentionFigures, 'alone' | 'concurrent' | 'removed' | 'removeSeconds'>;

/** Confirms the waiting plan and publishes until its run ends. Pauses the run after each of the first turns. */
async function publishInTurns(operator: Client, publish: () => Promise<PublishSpan>): Promise<TurnFigures> {
  const upTo = await untilWaiting(operator);
  const [alone, concurrent]: [PublishSpan[], PublishSpan[]] = [[await publish()], []];
  await operator.call('POST', '/admin/retention/confirm', { json: { up_to: upTo } });
  let removeSeconds = 0;
  for (let turn = 1; ; turn += 1) {
    const beganAt = await untilRemoving(operator);
    const span = await publish();
    const run = await lastRun(operator);
    if (run.outcome === 'done') {
      // The run ended within this span, so the span counts only if there is no other.
      return {
        alone,
        concurrent: concurrent.length > 0 ? concurrent : [span],
        removed: run.removed.messages,
        removeSeconds: removeSeconds + (Date.parse(run.ended_at) - beganAt) / 1_000,
      };
    }
    concurrent.push(span);
    if (turn < turns)
      await operator.call('POST', '/admin/retention/pause', {
        json: { reason: 'measuring publishes without the removal' },
      });
    removeSeconds += (Date.now() - beganAt) / 1_000;
    if (removeSeconds > runSecondsMax) throw new Error(`the removal took longer than ${runSecondsMax} s`);
    if (turn >= turns) continue;
    await untilStopped(operator);
    alone.push(await publish());
    await operator.call('POST', '/admin/retention/resume');
  }
}

/** Stops the servers while filling the store: an embedded store belongs to one process. */
async function fill(
  stack: Stack,
  size: { readonly messages: number; readonly expired: number },
): Promise<{ account: Account; topics: string[] }> {
  const store = await openStackDocuments(stack);
  const account = await createAccount(store, { tier: 'TEAM', urls: stack.urls });
  const made = await Promise.all(Array.from({ length: topicCount }, () => createTopic(account)));
  const topics = await store.documents
    .getMany(
      topicCollection,
      made.map(({ id }) => id),
    )
    .finally(() => store.close());
  for (const server of stack.servers) await server.stop();
  const load: ExpiredLoad = { ...size, topics: topics.map(({ id, partition }) => ({ id, partition })) };
  await runGenerator('seed-expired.ts', load, { secondsMax: seedSecondsMax, env: stack.env });
  for (const server of stack.servers) await server.start();
  return { account, topics: made.map(({ name }) => name) };
}

const lastRun = async (operator: Client) => (await operator.call('GET', '/admin/retention/history?limit=1')).body[0];

/** Resolves with the cut-off of the waiting plan. A plan of this size always waits for confirmation. */
async function untilWaiting(operator: Client): Promise<string> {
  for (;;) {
    const run = await lastRun(operator);
    if (run?.outcome === 'waiting') return run.up_to;
    await pause(100);
  }
}

/** Resolves with the current time once the run has removed more messages or is done. */
async function untilRemoving(operator: Client): Promise<number> {
  let before: number | undefined;
  for (;;) {
    const { outcome, removed } = await lastRun(operator);
    before ??= removed.messages;
    if (outcome === 'done' || (outcome === 'running' && removed.messages > before!)) return Date.now();
    await pause(100);
  }
}

/** Waits until the current batch is done: the count does not change for longer than the run's report interval. */
async function untilStopped(operator: Client): Promise<void> {
  for (let before = -1; ;) {
    const { removed } = await lastRun(operator);
    if (removed.messages === before) return;
    before = removed.messages;
    await pause(2_500);
  }
}

/** Returns the sum of the topics' message counts. */
async function countAll({ client }: Account, topics: readonly string[]): Promise<number> {
  let sum = 0;
  for (const topic of topics) sum += (await client.call('GET', `/api/topics/${topic}`)).body.message_count;
  return sum;
}
