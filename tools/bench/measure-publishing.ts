import { randomBytes } from 'node:crypto';
import type { BenchSize } from './bench-size.ts';
import type { PublishLoad, PublishResult } from './generate-publishes.ts';
import { EngineRequestCounter, requestsPer, type EngineRequests } from './count-engine-requests.ts';
import { median } from './percentiles.ts';
import { cpuMs } from './process-usage.ts';
import { runGenerator } from './run-generator.ts';
import { startFloor } from './start-floor.ts';
import { startTocsin, type BenchEngines, type TocsinOptions } from './start-tocsin.ts';
import type { Target } from './target.ts';

/** Figures of one server with one number of connections: medians over the rounds. */
export interface PublishFigures {
  readonly server: string;
  readonly connections: number;
  readonly perSecond: number;
  /** Minimum and maximum over the rounds. */
  readonly range: readonly [number, number];
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly serverUs: number;
  readonly enginesUs: number | null;
  readonly generatorUs: number;
  readonly not200: number;
  /** Its rate relative to the bare server (mean of before and after) and to Express in the same round. */
  readonly timesBare: number;
  readonly timesExpress: number;
  /** Its rate and p99 relative to the cluster floor in the same round; null on the embedded engine. */
  readonly timesFloor: number | null;
  readonly timesFloorP99: number | null;
  /** CPU time per message by process, in microseconds. */
  readonly processUs: Readonly<Record<string, number>>;
  /** Requests to the engines per message; null on the embedded engine and for servers that use no engine. */
  readonly requests: EngineRequests | null;
}

/** The load before the first measurement. */
export const warmUp = { connections: 16, requests: 3_000, secondsMax: 5 };

/**
 * Publishes to a bare server, to Express and to Tocsin in alternation. Each round measures the bare server before and
 * after, so other load on the machine affects all of them. Ratios compare within a round; figures are medians over the
 * rounds.
 */
export async function measurePublishing(
  size: BenchSize['publish'],
  options: Omit<TocsinOptions, 'topics'>,
): Promise<PublishFigures[]> {
  const targets: Target[] = [];
  const counter = options.engines === undefined ? null : new EngineRequestCounter(options.engines);
  try {
    targets.push(await startFloor('bare', 'bare-server.ts'), await startFloor('express', 'express-server.ts'));
    if (options.engines !== undefined) targets.push(await startClusterFloor(options.engines));
    const tocsin = await startTocsin({ ...options, topics: size.topics });
    targets.push(tocsin);
    const paths = tocsin.topics.map(({ name }) => `/${name}`);
    for (const target of targets) await publish(target, { ...size, ...warmUp, paths }, null);
    const figures: PublishFigures[] = [];
    for (const connections of size.connections) {
      const rounds: Round[] = [];
      for (let round = 0; round < size.rounds; round += 1)
        rounds.push(await measureRound(targets, { ...size, connections, paths }, counter));
      figures.push(...summarize(connections, rounds));
    }
    return figures;
  } finally {
    for (const target of targets) await target.stop();
    await counter?.close();
  }
}

type Load = Pick<PublishLoad, 'paths' | 'connections' | 'requests' | 'secondsMax' | 'textBytes'>;
type Measured = PublishResult & Pick<PublishFigures, 'processUs' | 'requests'>;
type Round = ReadonlyMap<string, Measured>;

/** The number of partitions of Tocsin's log in a benchmark, too. */
const floorPartitions = 4;

function startClusterFloor({ kafkaBrokers: brokers, mongoUrl, redisUrl, pids }: BenchEngines): Promise<Target> {
  const run = randomBytes(4).toString('hex');
  const url = new URL(mongoUrl);
  url.pathname = `/floor_${run}`;
  const argument = { brokers, mongoUrl: url.href, redisUrl, run, partitions: floorPartitions };
  return startFloor('floor', 'cluster-floor.ts', { argument, engines: pids });
}

async function measureRound(
  targets: readonly Target[],
  load: Load,
  counter: EngineRequestCounter | null,
): Promise<Round> {
  const round = new Map<string, Measured>();
  for (const target of targets) round.set(target.name, await publish(target, load, counter));
  round.set('bare after', await publish(targets[0]!, load, null));
  return round;
}

/** Publishes to the target and counts its CPU time, and its requests to the engines with a counter. */
export async function publish(target: Target, load: Load, counter: EngineRequestCounter | null): Promise<Measured> {
  const { ports, serverPids, enginePids, pids } = target;
  const { paths, connections, requests, secondsMax, textBytes } = load;
  const asked: PublishLoad = { ports, serverPids, enginePids, paths, connections, requests, secondsMax, textBytes };
  const before = await counter?.read();
  const cpuBefore = Object.entries(pids).map(([name, pid]) => [name, pid, cpuMs([pid])] as const);
  const result = await runGenerator<PublishResult>('generate-publishes.ts', asked, { secondsMax: secondsMax + 60 });
  return {
    ...result,
    processUs: Object.fromEntries(
      cpuBefore.map(([name, pid, ms]) => [name, ((cpuMs([pid]) - ms) * 1_000) / result.done]),
    ),
    requests: counter && before ? requestsPer(before, await counter.read(), result.done) : null,
  };
}

function summarize(connections: number, rounds: readonly Round[]): PublishFigures[] {
  const rate = (round: Round, server: string) => round.get(server)!.done / round.get(server)!.seconds;
  return [...rounds[0]!.keys()].map((server) => {
    const results = rounds.map((round) => round.get(server)!);
    const middle = (of: (result: PublishResult) => number) => median(results.map(of));
    const rates = rounds.map((round) => rate(round, server));
    return {
      server,
      connections,
      perSecond: median(rates),
      range: [Math.min(...rates), Math.max(...rates)],
      p50Ms: middle(({ latencyMs }) => latencyMs.p50),
      p99Ms: middle(({ latencyMs }) => latencyMs.p99),
      serverUs: middle(({ cpuUs }) => cpuUs.server),
      enginesUs: results[0]!.cpuUs.engines === null ? null : middle(({ cpuUs }) => cpuUs.engines!),
      generatorUs: middle(({ cpuUs }) => cpuUs.generator),
      not200: results.reduce((sum, { not200 }) => sum + not200, 0),
      timesBare: median(
        rounds.map((round) => (2 * rate(round, server)) / (rate(round, 'bare') + rate(round, 'bare after'))),
      ),
      timesExpress: median(rounds.map((round) => rate(round, server) / rate(round, 'express'))),
      timesFloor: rounds[0]!.has('floor')
        ? median(rounds.map((round) => rate(round, server) / rate(round, 'floor')))
        : null,
      timesFloorP99: rounds[0]!.has('floor')
        ? median(rounds.map((round) => round.get(server)!.latencyMs.p99 / round.get('floor')!.latencyMs.p99))
        : null,
      processUs: medianOfEach(results.map(({ processUs }) => processUs)),
      requests: results.some(({ requests }) => requests === null)
        ? null
        : {
            mongo: medianOfEach(results.map(({ requests }) => requests!.mongo)),
            redis: median(results.map(({ requests }) => requests!.redis)),
          },
    };
  });
}

/** The median of each key; a key that a record lacks counts as 0. */
function medianOfEach(records: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const names = new Set(records.flatMap((record) => Object.keys(record)));
  return Object.fromEntries([...names].map((name) => [name, median(records.map((record) => record[name] ?? 0))]));
}
