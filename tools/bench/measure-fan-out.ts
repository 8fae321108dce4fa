import type { BenchSize } from './bench-size.ts';
import { transports, type Transport } from './event-connection.ts';
import type { FanOutLoad, FanOutResult } from './generate-fan-out.ts';
import { runGenerator } from './run-generator.ts';
import { startFloor } from './start-floor.ts';
import { startTocsin, type TocsinOptions } from './start-tocsin.ts';
import type { Target } from './target.ts';

/** Figures of one server over one transport. */
export interface FanOutFigures extends FanOutResult {
  readonly server: string;
  /** Topics per stream. */
  readonly topics: number;
  readonly transport: Transport;
}

/** Topics per stream in the multi-topic measurement. */
const topicsOfStream = 20;

/**
 * Publishes to one topic that many streams read, on a bare broadcaster and on Tocsin, with a new server for each
 * transport. Then publishes to several topics that every SSE stream subscribes to.
 */
export async function measureFanOut(
  size: BenchSize['fanOut'],
  options: Omit<TocsinOptions, 'topics'>,
): Promise<FanOutFigures[]> {
  const figures: FanOutFigures[] = [];
  for (const transport of transports) {
    figures.push(await measure(await startFloor('bare', 'bare-broadcaster.ts'), ['bench'], { size, transport }));
    figures.push(await measureTocsin(options, 1, { size, transport }));
  }
  figures.push(await measureTocsin(options, topicsOfStream, { size, transport: 'sse' }));
  return figures;
}

interface Measured {
  readonly size: BenchSize['fanOut'];
  readonly transport: Transport;
}

async function measureTocsin(
  options: Omit<TocsinOptions, 'topics'>,
  topics: number,
  of: Measured,
): Promise<FanOutFigures> {
  const tocsin = await startTocsin({ ...options, topics });
  return measure(
    tocsin,
    tocsin.topics.map(({ name }) => name),
    of,
  );
}

async function measure(target: Target, topics: readonly string[], of: Measured): Promise<FanOutFigures> {
  const { size, transport } = of;
  const { ports, serverPids, enginePids } = target;
  const load: FanOutLoad = { ports, serverPids, enginePids, topics, transport, ...size };
  try {
    const result = await runGenerator<FanOutResult>('generate-fan-out.ts', load, { secondsMax: size.seconds + 120 });
    return { server: target.name, topics: topics.length, transport, ...result };
  } finally {
    await target.stop();
  }
}
