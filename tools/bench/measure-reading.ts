import { Client, newTopicName } from '../../tests/support/stack.ts';
import type { Stack } from '../stack/start-stack.ts';
import type { BenchSize } from './bench-size.ts';
import type { PublishLoad, PublishResult } from './generate-publishes.ts';
import type { ReadLoad, ReadResult } from './generate-reads.ts';
import type { Percentiles } from './percentiles.ts';
import { readKinds, type ReadKind } from './read-kinds.ts';
import { runGenerator } from './run-generator.ts';
import { withSeeded, type ReadingOptions, type SeededStack } from './with-seeded.ts';

/** Figures of one kind of read on a store with this many messages. */
export interface ReadFigures {
  readonly messages: number;
  readonly read: string;
  readonly readers: number;
  /** Whether the read is an indexed page, which has a latency target. Other reads search text or count all matches. */
  readonly isPage: boolean;
  readonly perSecond: number;
  readonly latencyMs: Percentiles;
  readonly serverUs: number;
  readonly not200: number;
}

/** Publish latency with and without concurrent searches. Embedded only, where both share a process. */
export interface SearchedPublishFigures {
  readonly messages: number;
  readonly searches: number;
  readonly alone: Percentiles;
  readonly concurrent: Percentiles;
}

export interface ReadingFigures {
  readonly reads: readonly ReadFigures[];
  readonly publishing: readonly SearchedPublishFigures[];
}

interface Target extends SeededStack {
  readonly messages: number;
}

const concurrentSearches = 4;
const publishers = 8;
/** Time for starting a generator and for the first reads of a newly opened store. */
const warmUpSecondsMax = 60;

/** Measures every kind of read on a small and on a large store, which shows reads whose cost grows with the store. */
export async function measureReading(size: BenchSize['reading'], options: ReadingOptions): Promise<ReadingFigures> {
  const reads: ReadFigures[] = [];
  const publishing: SearchedPublishFigures[] = [];
  for (const messages of size.messages) {
    await withSeeded({ messages, topics: size.topics }, options, async (stack) => {
      const target: Target = { ...stack, messages };
      const kinds = readKinds(target.seeded, messages).filter(({ read }) => read.includes(options.read));
      // A newly started server still compiles its code, which would slow down the first kind.
      if (kinds[0] !== undefined) await measure(target, size, kinds[0]);
      for (const kind of kinds) {
        const figures = await measure(target, size, kind);
        reads.push(figures);
        process.stderr.write(`${messages} ${figures.read}: p99 ${figures.latencyMs.p99.toFixed(1)} ms\n`);
      }
      if (options.engines === undefined && options.read === '') publishing.push(await measurePublishes(target, size));
    });
  }
  return { reads, publishing };
}

async function measure(
  { stack, tokens, messages }: Target,
  size: BenchSize['reading'],
  kind: ReadKind,
): Promise<ReadFigures> {
  const { paths, readers = size.readers, read, isPage } = kind;
  const load: ReadLoad = {
    ...common(stack),
    paths,
    connections: readers,
    secondsMax: size.secondsMax,
    token: tokens[kind.by],
  };
  // The warm-up excludes opening the store, starting threads and compiling code from the measurement.
  await runGenerator<ReadResult>(
    'generate-reads.ts',
    { ...load, secondsMax: size.secondsMax / 2 },
    { secondsMax: warmUpSecondsMax },
  );
  const result = await runGenerator<ReadResult>('generate-reads.ts', load, {
    secondsMax: size.secondsMax + warmUpSecondsMax,
  });
  return {
    messages,
    read,
    readers,
    isPage,
    perSecond: result.done / result.seconds,
    latencyMs: result.latencyMs,
    serverUs: result.cpuUs.server,
    not200: result.not200,
  };
}

async function measurePublishes(
  { stack, tokens, seeded, messages }: Target,
  size: BenchSize['reading'],
): Promise<SearchedPublishFigures> {
  const { secondsMax } = size;
  // Publishes to a separate topic: a kept store must keep the data that reads use.
  const owner = new Client(tokens.owner, stack.urls);
  const { body: topic } = await owner.call('POST', '/api/topics', { json: { name: newTopicName() } });
  const publish: PublishLoad = {
    ...common(stack),
    paths: [`/${topic.name}`],
    connections: publishers,
    secondsMax,
    textBytes: 200,
  };
  const run = () => runGenerator<PublishResult>('generate-publishes.ts', publish, { secondsMax: secondsMax + 60 });
  const alone = await run();
  const search: ReadLoad = {
    ...common(stack),
    paths: [`/api/topics/${seeded.large}/messages?q=zebra`],
    connections: concurrentSearches,
    secondsMax: secondsMax + 1,
    token: tokens.owner,
  };
  const [concurrent] = await Promise.all([
    run(),
    runGenerator<ReadResult>('generate-reads.ts', search, { secondsMax: secondsMax + 60 }),
  ]);
  return { messages, searches: concurrentSearches, alone: alone.latencyMs, concurrent: concurrent.latencyMs };
}

function common(stack: Stack): Pick<ReadLoad, 'ports' | 'serverPids' | 'enginePids' | 'requests'> {
  return {
    ports: stack.urls.map((url) => Number(new URL(url).port)),
    serverPids: stack.servers.map(({ pid }) => pid),
    enginePids: [],
    requests: 1_000_000,
  };
}
