import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { topics as topicCollection } from '@tocsin/shared/stores/topics.ts';
import { Client, createAccount, createTopic, openStackDocuments, type Account } from '../../tests/acceptance/stack.ts';
import type { Stack } from '../stack/start-stack.ts';
import type { BenchSize } from './bench-size.ts';
import type { PublishLoad, PublishResult } from './generate-publishes.ts';
import type { Percentiles } from './percentiles.ts';
import { runGenerator } from './run-generator.ts';
import type { ExpiredLoad } from './seed-expired.ts';
import { removeRun, startStack, type TocsinOptions } from './start-tocsin.ts';

/** What the removal of a third of a store costs those who publish meanwhile. */
export interface RetentionFigures {
  readonly messages: number;
  readonly expired: number;
  /** How long the plan took, and whether it waited for its confirmation as it must beyond 10,000 messages. */
  readonly planMs: number;
  readonly waited: boolean;
  readonly removed: number;
  readonly removeSeconds: number;
  /** How many publishes each part had, and their latencies: before the removal, and while it went on. */
  readonly publishes: readonly [number, number];
  readonly aloneMs: Percentiles;
  readonly besideMs: Percentiles;
  /** By how much the counts of the topics were off afterwards. */
  readonly drift: number;
}

const adminToken = 'the-operator-of-the-bench';
const topicCount = 10;
const seedSecondsMax = 1_800;
const runSecondsMax = 1_800;
const warmUpSeconds = 3;

/** Fills a store, has what expired removed while messages are published at a steady rate, and counts what is left. */
export async function measureRetention(size: BenchSize['retention'], options: Omit<TocsinOptions, 'topics'>): Promise<RetentionFigures> {
  const dir = mkdtempSync(join(tmpdir(), 'tocsin-bench-'));
  try {
    const stack = await startStack({ ...options, env: { ADMIN_TOKEN: adminToken, RETENTION_SCHEDULE: '0 0 1 1 *' } }, dir);
    try {
      return await measure(stack, size);
    } finally {
      await stack.stop();
      await removeRun(stack);
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function measure(stack: Stack, size: BenchSize['retention']): Promise<RetentionFigures> {
  const { messages, publishesPerSecond, secondsMax } = size;
  const expired = Math.floor(messages / 3);
  const { account, topics } = await fill(stack, { messages, expired });
  const operator = new Client(adminToken, stack.urls);
  const load: PublishLoad = {
    ports: stack.urls.map((url) => Number(new URL(url).port)), serverPids: stack.servers.map(({ pid }) => pid), enginePids: [],
    paths: topics.map((topic) => `/${topic}`), connections: 32, requests: 10_000_000, perSecond: publishesPerSecond, secondsMax, textBytes: 200,
  };
  let published = 0;
  const publish = async (seconds: number): Promise<PublishResult> => {
    const result = await runGenerator<PublishResult>('generate-publishes.ts', { ...load, secondsMax: seconds }, { secondsMax: seconds + 60 });
    published += result.done - result.not200;
    return result;
  };
  await publish(warmUpSeconds);
  const alone = await publish(secondsMax);

  const askedAt = performance.now();
  const { body: plan } = await operator.call('GET', '/admin/retention/plan');
  const planMs = performance.now() - askedAt;
  const waited = await startRun(operator, plan.up_to);
  const startedAt = performance.now();
  const [beside, { removed, removeSeconds }] = await Promise.all([publish(secondsMax), untilDone(operator, startedAt)]);
  return {
    messages, expired, planMs, waited, removed, removeSeconds,
    publishes: [alone.done, beside.done], aloneMs: alone.latencyMs, besideMs: beside.latencyMs,
    drift: await countAll(account, topics) - (messages - expired + published),
  };
}

/** The servers stand still while the store is filled: embedded, it belongs to one process. */
async function fill(stack: Stack, size: { readonly messages: number; readonly expired: number }): Promise<{ account: Account; topics: string[] }> {
  const store = await openStackDocuments(stack);
  const account = await createAccount(store, { tier: 'TEAM', urls: stack.urls });
  const made = await Promise.all(Array.from({ length: topicCount }, () => createTopic(account)));
  const topics = await store.documents.getMany(topicCollection, made.map(({ id }) => id)).finally(() => store.close());
  for (const server of stack.servers) await server.stop();
  const load: ExpiredLoad = { ...size, topics: topics.map(({ id, partition }) => ({ id, partition })) };
  await runGenerator('seed-expired.ts', load, { secondsMax: seedSecondsMax, env: stack.env });
  for (const server of stack.servers) await server.start();
  return { account, topics: made.map(({ name }) => name) };
}

/** Starts the run, and confirms it where its plan waits for that. Resolves with whether it did. */
async function startRun(operator: Client, upTo: string): Promise<boolean> {
  await operator.call('POST', '/admin/retention/run', { json: { up_to: upTo } });
  for (;;) {
    const [last] = (await operator.call('GET', '/admin/retention/history?limit=1')).body;
    if (last?.outcome === 'waiting') {
      await operator.call('POST', '/admin/retention/confirm', { json: { up_to: upTo } });
      return true;
    }
    if (last !== undefined) return false;
    await pause(20);
  }
}

async function untilDone(operator: Client, startedAt: number): Promise<{ removed: number; removeSeconds: number }> {
  for (;;) {
    const [last] = (await operator.call('GET', '/admin/retention/history?limit=1')).body;
    const removeSeconds = (performance.now() - startedAt) / 1_000;
    if (last.outcome === 'done') return { removed: last.removed.messages, removeSeconds };
    if (removeSeconds > runSecondsMax) throw new Error(`the removal took longer than ${runSecondsMax} s`);
    await pause(250);
  }
}

/** What the topics' counts say together. */
async function countAll({ client }: Account, topics: readonly string[]): Promise<number> {
  let sum = 0;
  for (const topic of topics) sum += (await client.call('GET', `/api/topics/${topic}`)).body.message_count;
  return sum;
}
