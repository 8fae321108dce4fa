import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAccount, openStackDocuments, type Account } from '../../tests/acceptance/stack.ts';
import type { Stack } from '../stack/start-stack.ts';
import type { BenchSize } from './bench-size.ts';
import type { PublishLoad, PublishResult } from './generate-publishes.ts';
import type { ReadLoad, ReadResult } from './generate-reads.ts';
import type { Percentiles } from './percentiles.ts';
import { runGenerator } from './run-generator.ts';
import type { SeedLoad, SeedResult } from './seed-messages.ts';
import { startStack, type TocsinOptions } from './start-tocsin.ts';

/** One kind of read on a store of so many messages. */
export interface ReadFigures {
  readonly messages: number;
  readonly read: string;
  readonly readers: number;
  /** Whether it is a page by the index, which has a mark; others search text, or count all that matches. */
  readonly isPage: boolean;
  readonly perSecond: number;
  readonly latencyMs: Percentiles;
  readonly serverUs: number;
  readonly not200: number;
}

/** What searches cost those who publish; embedded only, where both share a process. */
export interface SearchedPublishFigures {
  readonly messages: number;
  readonly searches: number;
  readonly alone: Percentiles;
  readonly beside: Percentiles;
}

export interface ReadingFigures {
  readonly reads: readonly ReadFigures[];
  readonly publishing: readonly SearchedPublishFigures[];
}

interface Target {
  readonly stack: Stack;
  readonly account: Account;
  readonly seeded: SeedResult;
  readonly messages: number;
}

const searchesBeside = 4;
const publishers = 8;
const pathsPerRead = 97;
const seedSecondsMax = 3_600;

/** Reads of every kind on a small store and on a large one, so that what grows with the store is seen. */
export async function measureReading(size: BenchSize['reading'], options: Omit<TocsinOptions, 'topics'>): Promise<ReadingFigures> {
  const reads: ReadFigures[] = [];
  const publishing: SearchedPublishFigures[] = [];
  for (const messages of size.messages) {
    await withSeeded(messages, size, options, async (target) => {
      for (const read of kindsOf(target)) reads.push(await measure(target, size, read));
      if (options.engines === undefined) publishing.push(await measurePublishes(target, size));
    });
  }
  return { reads, publishing };
}

/** The servers stand still while the store is filled: embedded, it belongs to one process. */
async function withSeeded(
  messages: number, size: BenchSize['reading'], options: Omit<TocsinOptions, 'topics'>, use: (target: Target) => Promise<void>,
): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'tocsin-bench-'));
  try {
    const stack = await startStack(options, dir);
    try {
      const store = await openStackDocuments(stack);
      const account = await createAccount(store, { tier: 'TEAM', urls: stack.urls }).finally(() => store.close());
      for (const server of stack.servers) await server.stop();
      const load: SeedLoad = { ownerId: account.user.id, messages, topics: size.topics };
      const seeded = await runGenerator<SeedResult>('seed-messages.ts', load, { secondsMax: seedSecondsMax, env: stack.env });
      for (const server of stack.servers) await server.start();
      // The threads that search start with the first question.
      for (const query of ['', '?q=warm']) await account.client.call('GET', `/api/messages/search${query}`);
      await use({ stack, account, seeded, messages });
    } finally {
      await stack.stop();
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

interface ReadKind {
  readonly read: string;
  readonly isPage: boolean;
  /** One reader, as somebody who waits for a search. */
  readonly isAlone?: boolean;
  /** `turn` counts the paths of the kind. */
  readonly path: (turn: number) => string;
}

function kindsOf({ seeded: { large, small }, messages }: Target): ReadKind[] {
  const topic = (turn: number) => small[(turn * 31) % small.length]!;
  const perTopic = Math.floor((messages * 0.9) / small.length);
  const within = (turn: number, count: number) => Math.floor((turn / pathsPerRead) * Math.max(count - 50, 1));
  return [
    { read: 'history', isPage: true, path: (turn) => `/${topic(turn)}/json?limit=100` },
    { read: 'log', isPage: true, path: (turn) => `/api/topics/${topic(turn)}/log?limit=100&from_offset=${within(turn, messages)}` },
    { read: 'topic page', isPage: true, path: (turn) => `/api/topics/${topic(turn)}/messages?offset=${within(turn, perTopic)}` },
    { read: 'topic page, filtered', isPage: true, path: (turn) => `/api/topics/${topic(turn)}/messages?priority_min=4&tags=disk,pump` },
    { read: 'large topic page', isPage: true, path: (turn) => `/api/topics/${large}/messages?offset=${within(turn, messages / 10)}` },
    { read: 'search page', isPage: true, path: (turn) => `/api/messages/search?offset=${within(turn, 1_000)}` },
    { read: 'recent', isPage: true, path: () => '/api/messages/recent' },
    { read: 'large topic, counted', isPage: false, path: () => `/api/topics/${large}/messages?priority_min=4&tags=disk,pump` },
    { read: 'search, counted', isPage: false, path: () => '/api/messages/search?priority_min=4' },
    { read: 'activity', isPage: false, path: () => '/api/messages/activity' },
    { read: 'text in large topic, none', isPage: false, isAlone: true, path: () => `/api/topics/${large}/messages?q=zebra` },
    { read: 'text in large topic, some', isPage: false, isAlone: true, path: (turn) => `/api/topics/${large}/messages?q=${turn}0` },
  ];
}

async function measure({ stack, account, messages }: Target, size: BenchSize['reading'], kind: ReadKind): Promise<ReadFigures> {
  const readers = kind.isAlone === true ? 1 : size.readers;
  const result = await runGenerator<ReadResult>('generate-reads.ts', readLoad(stack, account, {
    paths: Array.from({ length: pathsPerRead }, (_, turn) => kind.path(turn)), connections: readers, secondsMax: size.secondsMax,
  }), { secondsMax: size.secondsMax + 60 });
  return {
    messages, read: kind.read, readers, isPage: kind.isPage, perSecond: result.done / result.seconds, latencyMs: result.latencyMs,
    serverUs: result.cpuUs.server, not200: result.not200,
  };
}

async function measurePublishes({ stack, account, seeded, messages }: Target, size: BenchSize['reading']): Promise<SearchedPublishFigures> {
  const { secondsMax } = size;
  const publish: PublishLoad = { ...common(stack), paths: [`/${seeded.small[0]!}`], connections: publishers, secondsMax, textBytes: 200 };
  const run = () => runGenerator<PublishResult>('generate-publishes.ts', publish, { secondsMax: secondsMax + 60 });
  const alone = await run();
  const search = readLoad(stack, account, {
    paths: [`/api/topics/${seeded.large}/messages?q=zebra`], connections: searchesBeside, secondsMax: secondsMax + 1,
  });
  const [beside] = await Promise.all([run(), runGenerator<ReadResult>('generate-reads.ts', search, { secondsMax: secondsMax + 60 })]);
  return { messages, searches: searchesBeside, alone: alone.latencyMs, beside: beside.latencyMs };
}

function readLoad(stack: Stack, { client }: Account, of: Pick<ReadLoad, 'paths' | 'connections' | 'secondsMax'>): ReadLoad {
  return { ...common(stack), ...of, token: client.token! };
}

function common(stack: Stack): Pick<ReadLoad, 'ports' | 'serverPids' | 'enginePids' | 'requests'> {
  return {
    ports: stack.urls.map((url) => Number(new URL(url).port)), serverPids: stack.servers.map(({ pid }) => pid), enginePids: [], requests: 1_000_000,
  };
}
