import type { BenchSize } from './bench-size.ts';
import type { PublishLoad, PublishResult } from './generate-publishes.ts';
import type { ReplayLoad, ReplayResult } from './generate-replay.ts';
import { median } from './percentiles.ts';
import type { RecordsLoad, RecordsResult } from './read-records.ts';
import { runGenerator } from './run-generator.ts';
import { startTocsin, type TocsinOptions, type TocsinTarget } from './start-tocsin.ts';

/** Figures of one way to read a whole topic: medians over the passes. */
export interface ReplayFigures {
  readonly by: 'log' | 'sse' | 'port';
  readonly readers: number;
  readonly perSecond: number;
  /** Per message. For `port`, the CPU time of the reading process. */
  readonly serverUs: number;
  readonly enginesUs: number | null;
  readonly generatorUs: number | null;
  /** Messages that the readers should have received but did not; 0 if correct. */
  readonly missing: number;
}

const seedConnections = 64;
const secondsMax = 300;

/**
 * Fills a topic and reads it from the beginning: as pages of the log, as a resuming stream, and directly through the
 * port.
 */
export async function measureReplay(
  size: BenchSize['replay'],
  options: Omit<TocsinOptions, 'topics'>,
): Promise<ReplayFigures[]> {
  const tocsin = await startTocsin({ ...options, topics: 1 });
  try {
    await seed(tocsin, size);
    const figures: ReplayFigures[] = [];
    for (const readers of size.readers) figures.push(await read(tocsin, size, { by: 'log', readers }));
    figures.push(await read(tocsin, size, { by: 'sse', readers: 1 }));
    await tocsin.stopServers();
    figures.push(await readByPort(tocsin, size));
    return figures;
  } finally {
    await tocsin.stop();
  }
}

/** Publishes over HTTP, so the benchmark reads data that a server has written. */
async function seed(tocsin: TocsinTarget, size: BenchSize['replay']): Promise<void> {
  const {
    ports,
    serverPids,
    enginePids,
    topics: [topic],
  } = tocsin;
  const load: PublishLoad = {
    ports,
    serverPids,
    enginePids,
    paths: [`/${topic!.name}`],
    connections: seedConnections,
    requests: size.messages,
    secondsMax,
    textBytes: size.textBytes,
  };
  const { done, not200 } = await runGenerator<PublishResult>('generate-publishes.ts', load, {
    secondsMax: secondsMax + 60,
  });
  if (done - not200 !== size.messages)
    throw new Error(`only ${done - not200} of ${size.messages} messages published in ${secondsMax} s`);
}

async function read(
  tocsin: TocsinTarget,
  size: BenchSize['replay'],
  how: Pick<ReplayLoad, 'by' | 'readers'>,
): Promise<ReplayFigures> {
  const {
    ports,
    serverPids,
    enginePids,
    topics: [topic],
  } = tocsin;
  const load: ReplayLoad = {
    ports,
    serverPids,
    enginePids,
    topic: topic!.name,
    ...how,
    messages: size.messages,
    secondsMax,
  };
  const results: ReplayResult[] = [];
  while (results.length < size.passes) {
    results.push(await runGenerator<ReplayResult>('generate-replay.ts', load, { secondsMax: secondsMax + 60 }));
  }
  return {
    ...how,
    perSecond: median(results.map((result) => result.read / result.seconds)),
    serverUs: median(results.map(({ cpuUs }) => cpuUs.server)),
    enginesUs: results[0]!.cpuUs.engines === null ? null : median(results.map(({ cpuUs }) => cpuUs.engines!)),
    generatorUs: median(results.map(({ cpuUs }) => cpuUs.generator)),
    missing: results.reduce((sum, result) => sum + how.readers * size.messages - result.read, 0),
  };
}

async function readByPort(
  { topics, env }: TocsinTarget,
  { messages, passes }: BenchSize['replay'],
): Promise<ReplayFigures> {
  const load: RecordsLoad = { topicId: topics[0]!.id, passes };
  const {
    read: count,
    seconds,
    cpuUs,
  } = await runGenerator<RecordsResult>('read-records.ts', load, { secondsMax, env });
  return {
    by: 'port',
    readers: 1,
    perSecond: count / seconds,
    serverUs: cpuUs,
    enginesUs: null,
    generatorUs: null,
    missing: messages * passes - count,
  };
}
