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

/** What the removal of a third of a store costs those who publish meanwhile. */
export interface RetentionFigures {
  readonly messages: number;
  readonly expired: number;
  readonly planMs: number;
  readonly removed: number;
  /** Without the pauses in which publishes were measured without it. */
  readonly removeSeconds: number;
  /** In turns: while the removal was paused, and while it went on. Those behind the last turn came until its end. */
  readonly alone: readonly PublishSpan[];
  readonly concurrent: readonly PublishSpan[];
  /** By how much the 99th percentile concurrent the removal is higher than in the same turn without: of all turns, the middle one. */
  readonly timesP99: number;
  /** By how much the counts of the topics were off afterwards. */
  readonly drift: number;
}

/** Publishes at a steady rate for some seconds. */
export interface PublishSpan {
  readonly publishes: number;
  readonly latencyMs: Percentiles;
  /** CPU time of all processes for each publish, the removal's with it; of the engines where they are ours. */
  readonly cpuUs: CpuPerOperation;
}

const adminToken = 'the-operator-of-the-bench';
const topicCount = 10;
const seedSecondsMax = 1_800;
const runSecondsMax = 7_200;
const warmUpSeconds = 3;
/** How often publishes are measured without the removal, and then concurrent it. A machine changes within minutes: what is compared has to be close. */
const turns = 6;
/** A run that was paused goes on with the next slot. */
const schedule = '5s';

/** Fills a store, has what expired removed while messages are published at a steady rate, and counts what is left. */
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

/** Confirms the plan that waits, and publishes until its run has come to its end, which is paused for each of the first turns. */
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
      // Its end lies in this span: it counts only where there is no other.
      return {
        alone,
        concurrent: concurrent.length > 0 ? concurrent : [span],
        removed: run.removed.messages,
        removeSeconds: removeSeconds + (Date.parse(run.ended_at) - beganAt) / 1_000,
      };
    }
    concurrent.push(span);
    if (turn < turns)
      await operator.call('POST', '/admin/retention/pause', { json: { reason: 'publishes are measured without it' } });
    removeSeconds += (Date.now() - beganAt) / 1_000;
    if (removeSeconds > runSecondsMax) throw new Error(`the removal took longer than ${runSecondsMax} s`);
    if (turn >= turns) continue;
    await untilStopped(operator);
    alone.push(await publish());
    await operator.call('POST', '/admin/retention/resume');
  }
}

/** The servers stand still while the store is filled: embedded, it belongs to one process. */
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

/** Resolves with the cut-off of the plan that waits, as one of so much must. */
async function untilWaiting(operator: Client): Promise<string> {
  for (;;) {
    const run = await lastRun(operator);
    if (run?.outcome === 'waiting') return run.up_to;
    await pause(100);
  }
}

/** Resolves with when it began, once something more is removed or nothing is left. */
async function untilRemoving(operator: Client): Promise<number> {
  let before: number | undefined;
  for (;;) {
    const { outcome, removed } = await lastRun(operator);
    before ??= removed.messages;
    if (outcome === 'done' || (outcome === 'running' && removed.messages > before!)) return Date.now();
    await pause(100);
  }
}

/** A batch that was under way is over when nothing more goes for longer than the run tells of. */
async function untilStopped(operator: Client): Promise<void> {
  for (let before = -1; ;) {
    const { removed } = await lastRun(operator);
    if (removed.messages === before) return;
    before = removed.messages;
    await pause(2_500);
  }
}

/** What the topics' counts say together. */
async function countAll({ client }: Account, topics: readonly string[]): Promise<number> {
  let sum = 0;
  for (const topic of topics) sum += (await client.call('GET', `/api/topics/${topic}`)).body.message_count;
  return sum;
}
