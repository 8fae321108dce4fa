import type { BenchSize } from './bench-size.ts';
import type { Transport } from './event-connection.ts';
import type { FanOutLoad, FanOutResult } from './generate-fan-out.ts';
import { runGenerator } from './run-generator.ts';
import { startFloor } from './start-floor.ts';
import { startTocsin, type TocsinOptions } from './start-tocsin.ts';
import type { Target } from './target.ts';

/** One server over one transport. */
export interface FanOutFigures extends FanOutResult {
  readonly server: string;
  readonly transport: Transport;
}

const transports: readonly Transport[] = ['sse', 'ws'];

/** Publishes to one topic that many streams read, on a bare broadcaster and on Tocsin, each server fresh for each transport. */
export async function measureFanOut(size: BenchSize['fanOut'], options: Omit<TocsinOptions, 'topics'>): Promise<FanOutFigures[]> {
  const figures: FanOutFigures[] = [];
  for (const transport of transports) {
    figures.push(await measure(await startFloor('bare', 'bare-broadcaster.ts'), 'bench', { size, transport }));
    const tocsin = await startTocsin({ ...options, topics: 1 });
    figures.push(await measure(tocsin, tocsin.topics[0]!.name, { size, transport }));
  }
  return figures;
}

async function measure(target: Target, topic: string, of: { size: BenchSize['fanOut']; transport: Transport }): Promise<FanOutFigures> {
  const { size, transport } = of;
  const { ports, serverPids, enginePids } = target;
  const load: FanOutLoad = { ports, serverPids, enginePids, topic, transport, ...size };
  try {
    const result = await runGenerator<FanOutResult>('generate-fan-out.ts', load, { secondsMax: size.seconds + 120 });
    return { server: target.name, transport, ...result };
  } finally {
    await target.stop();
  }
}
