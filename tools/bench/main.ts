import { loadavg, availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildPrograms } from '../build/build-programs.ts';
import type { BenchReport } from './bench-report.ts';
import { fullSize, quickSize } from './bench-size.ts';
import { marksOf } from './marks.ts';
import { measureFanOut } from './measure-fan-out.ts';
import { measureIdle } from './measure-idle.ts';
import { measurePublishing } from './measure-publishing.ts';
import { measureReading } from './measure-reading.ts';
import { measureRetention } from './measure-retention.ts';
import { measureReplay } from './measure-replay.ts';
import { measureScaling } from './measure-scaling.ts';
import { formatReport } from './format-report.ts';
import type { BenchEngines } from './start-tocsin.ts';
import { useEngines } from './use-engines.ts';

const usage = `Usage: npm run -s bench -- [--engine embedded|cluster|both] [--part publishing|fan-out|reading|retention|replay|idle|scaling]... [--messages N] [--read TEXT] [--store DIR] [--quick] [--profile DIR]

Measures publishing and fan-out, each compared with a bare server and Express, then reading, retention, replay, an idle server, and clusters
with more processes of one service. Prints
tables and one line of JSON per engine. Exits with 1 if a target is missed. The cluster runs on the engines in
TEST_KAFKA_BROKERS, TEST_MONGO_URL and TEST_REDIS_URL, or on engines that the benchmark starts.

--messages  size of the larger store of reading, and of the store of retention
--part      runs only these parts; retention and scaling (of a cluster) run only if requested
--read      measures only the kinds of read whose name contains the text
--store     keeps the stores of reading in the directory (a cluster's on its engines) and reuses them
--quick     small loads: shows that every part runs, not whether it reaches its mark
--profile   writes CPU profiles of the servers to the directory; the figures then include the profiler

OTEL_* variables are passed to the servers, for example to measure the cost of tracing.
`;

/** They take minutes: one fills a store, the other starts many clusters. */
const askedForAlone = ['retention', 'scaling'];
const allParts = ['publishing', 'fan-out', 'reading', 'retention', 'replay', 'idle', 'scaling'];

const options = {
  engine: { type: 'string', default: 'embedded' },
  part: { type: 'string', multiple: true },
  messages: { type: 'string' },
  read: { type: 'string', default: '' },
  store: { type: 'string' },
  quick: { type: 'boolean', default: false },
  profile: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

interface Asked {
  readonly parts: readonly string[];
  readonly isQuick: boolean;
  /** Size of the larger `reading` store and of the `retention` store; undefined: the default of the size. */
  readonly messages: number | undefined;
  /** Selects the kinds of read whose name contains this text. */
  readonly read: string;
  readonly storeDir: string | undefined;
  readonly profileDir: string | undefined;
}

async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options });
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  const kinds = values.engine === 'both' ? ['embedded', 'cluster'] : [values.engine];
  const parts = values.part ?? allParts.filter((part) => !askedForAlone.includes(part));
  const messages = values.messages === undefined ? undefined : Number(values.messages);
  const isSize = messages === undefined || (Number.isInteger(messages) && messages >= 1_000);
  if (
    !isSize ||
    !parts.every((part) => allParts.includes(part)) ||
    !kinds.every((kind) => ['embedded', 'cluster'].includes(kind))
  ) {
    process.stderr.write(usage);
    return 2;
  }
  await buildPrograms();
  const given = (path: string | undefined) => (path === undefined ? undefined : resolve(path));
  const asked: Asked = {
    parts,
    isQuick: values.quick,
    messages,
    read: values.read,
    storeDir: given(values.store),
    profileDir: given(values.profile),
  };
  let areMet = true;
  const report = async (engines: BenchEngines | undefined) => {
    areMet = print(await measureAll(asked, engines)) && areMet;
  };
  for (const kind of kinds) await (kind === 'embedded' ? report(undefined) : useEngines(report));
  return areMet ? 0 : 1;
}

async function measureAll(
  { parts, isQuick, messages, read, storeDir, profileDir }: Asked,
  engines: BenchEngines | undefined,
): Promise<BenchReport> {
  const form = isQuick ? quickSize : fullSize;
  const [small = 0] = form.reading.messages;
  const size =
    messages === undefined
      ? form
      : {
          ...form,
          reading: { ...form.reading, messages: [...new Set([Math.min(small, messages), messages])] },
          retention: { ...form.retention, messages },
        };
  const tocsin = { engines, profileDir };
  const before = loadavg()[0]!;
  return {
    engine: engines === undefined ? 'embedded' : 'cluster',
    size,
    at: new Date().toISOString(),
    node: process.version,
    cores: availableParallelism(),
    ...(parts.includes('publishing') ? { publishing: await measurePublishing(size.publish, tocsin) } : {}),
    ...(parts.includes('fan-out') ? { fanOut: await measureFanOut(size.fanOut, tocsin) } : {}),
    ...(parts.includes('reading')
      ? { reading: await measureReading(size.reading, { ...tocsin, storeDir, read }) }
      : {}),
    ...(parts.includes('retention') ? { retention: await measureRetention(size.retention, tocsin) } : {}),
    ...(parts.includes('replay') ? { replay: await measureReplay(size.replay, tocsin) } : {}),
    ...(parts.includes('idle') ? { idle: await measureIdle(size.idle, tocsin) } : {}),
    ...(parts.includes('scaling') && engines !== undefined
      ? { scaling: await measureScaling(size.scaling, { ...tocsin, engines }) }
      : {}),
    load: { before, after: loadavg()[0]! },
  };
}

/** Returns whether all targets are met. */
function print(report: BenchReport): boolean {
  const marks = marksOf(report);
  const line = JSON.stringify({ ...report, marks }, (_, value: unknown) =>
    typeof value === 'number' ? Number(value.toPrecision(5)) : value,
  );
  process.stdout.write(`${formatReport(report)}\n${line}\n`);
  return marks.every(({ passed }) => passed);
}

process.exitCode = await main(process.argv.slice(2));
