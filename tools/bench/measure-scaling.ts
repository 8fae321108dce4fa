import type { BenchSize } from './bench-size.ts';
import { EngineRequestCounter, mongoRequestsOf } from './count-engine-requests.ts';
import { publish, warmUp } from './measure-publishing.ts';
import { startTocsin, type BenchEngines, type TocsinOptions } from './start-tocsin.ts';

/** Figures of a cluster with several processes of one service, while clients publish. */
export interface ScalingFigures {
  readonly service: ScaledService;
  readonly processes: number;
  /** 1: all messages go to one topic, and so to one partition. */
  readonly topics: number;
  readonly perSecond: number;
  readonly p99Ms: number;
  /** CPU time per message of all processes of a service or engine, in microseconds. */
  readonly serviceUs: Readonly<Record<string, number>>;
  /** The share of the busiest process in the CPU time of the scaled service: 1 / `processes` if it is spread evenly. */
  readonly busiestShare: number;
  /** Per message. */
  readonly mongoRequests: number;
  readonly redisCommands: number;
}

const services = ['api', 'fanout', 'notifier'] as const;
type ScaledService = (typeof services)[number];

/** Enough that every process of a service gets several partitions, and each topic one of its own with some luck. */
const partitions = 12;
const manyTopics = 48;

type Options = Omit<TocsinOptions, 'topics' | 'engines'> & { readonly engines: BenchEngines };

/**
 * Publishes to many topics and then to one, on clusters with 1 to `processesMax` processes of one service. The
 * connections grow with the processes, so that each of them has as many messages per batch.
 */
export async function measureScaling(size: BenchSize['scaling'], options: Options): Promise<ScalingFigures[]> {
  const figures: ScalingFigures[] = [];
  for (const service of services) {
    for (let processes = 1; processes <= size.processesMax; processes += 1)
      figures.push(...(await measureCluster(service, processes, size, options)));
  }
  return figures;
}

async function measureCluster(
  service: ScaledService,
  processes: number,
  size: BenchSize['scaling'],
  options: Options,
): Promise<ScalingFigures[]> {
  const counter = new EngineRequestCounter(options.engines);
  const tocsin = await startTocsin({
    ...options,
    env: { ...options.env, KAFKA_PARTITIONS: String(partitions) },
    topics: manyTopics,
    ...(service === 'api' ? { apiNodes: processes } : { replicas: { [service]: processes } }),
  });
  try {
    const paths = tocsin.topics.map(({ name }) => `/${name}`);
    await publish(tocsin, { ...size, ...warmUp, paths }, null);
    const figures: ScalingFigures[] = [];
    for (const topics of [manyTopics, 1]) {
      const load = { ...size, connections: size.connections * processes, paths: paths.slice(0, topics) };
      const result = await publish(tocsin, load, counter);
      const ofScaled = Object.entries(result.processUs).filter(([name]) => serviceOf(name) === service);
      const sum = ofScaled.reduce((total, [, us]) => total + us, 0);
      figures.push({
        service,
        processes,
        topics,
        perSecond: result.done / result.seconds,
        p99Ms: result.latencyMs.p99,
        serviceUs: sumByService(result.processUs),
        busiestShare: Math.max(...ofScaled.map(([, us]) => us)) / sum,
        mongoRequests: mongoRequestsOf(result.requests!),
        redisCommands: result.requests!.redis,
      });
    }
    return figures;
  } finally {
    await tocsin.stop();
    await counter.close();
  }
}

/** `notifier2` belongs to `notifier`. */
const serviceOf = (process: string): string => process.replace(/\d+$/, '');

function sumByService(processUs: Readonly<Record<string, number>>): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [name, us] of Object.entries(processUs)) sums[serviceOf(name)] = (sums[serviceOf(name)] ?? 0) + us;
  return sums;
}
