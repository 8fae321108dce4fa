import type { BenchSize } from './bench-size.ts';
import type { PublishLoad, PublishResult } from './generate-publishes.ts';
import { median } from './percentiles.ts';
import { runGenerator } from './run-generator.ts';
import { startFloor } from './start-floor.ts';
import { startTocsin, type TocsinOptions } from './start-tocsin.ts';
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
}

const warmUp = { connections: 16, requests: 3_000, secondsMax: 5 };

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
  try {
    targets.push(await startFloor('bare', 'bare-server.ts'), await startFloor('express', 'express-server.ts'));
    const tocsin = await startTocsin({ ...options, topics: size.topics });
    targets.push(tocsin);
    const paths = tocsin.topics.map(({ name }) => `/${name}`);
    for (const target of targets) await publish(target, { ...size, ...warmUp, paths });
    const figures: PublishFigures[] = [];
    for (const connections of size.connections) {
      const rounds: Round[] = [];
      for (let round = 0; round < size.rounds; round += 1)
        rounds.push(await measureRound(targets, { ...size, connections, paths }));
      figures.push(...summarize(connections, rounds));
    }
    return figures;
  } finally {
    for (const target of targets) await target.stop();
  }
}

type Load = Pick<PublishLoad, 'paths' | 'connections' | 'requests' | 'secondsMax' | 'textBytes'>;
type Round = ReadonlyMap<string, PublishResult>;

async function measureRound(targets: readonly Target[], load: Load): Promise<Round> {
  const round = new Map<string, PublishResult>();
  for (const target of targets) round.set(target.name, await publish(target, load));
  round.set('bare after', await publish(targets[0]!, load));
  return round;
}

function publish({ ports, serverPids, enginePids }: Target, load: Load): Promise<PublishResult> {
  const { paths, connections, requests, secondsMax, textBytes } = load;
  const asked: PublishLoad = { ports, serverPids, enginePids, paths, connections, requests, secondsMax, textBytes };
  return runGenerator<PublishResult>('generate-publishes.ts', asked, { secondsMax: secondsMax + 60 });
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
    };
  });
}
