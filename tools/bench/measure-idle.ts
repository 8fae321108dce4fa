import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { BenchSize } from './bench-size.ts';
import { EventConnection, transports, type Transport } from './event-connection.ts';
import { median } from './percentiles.ts';
import { cpuMs, residentMb } from './process-usage.ts';
import { removeRun, startStack, startTocsin, type TocsinOptions, type TocsinTarget } from './start-tocsin.ts';

/** Figures of an installation without requests. */
export interface IdleFigures {
  /** The first start, on empty data. */
  readonly firstStart: StartFigures;
  /** Medians of later starts on the same data. */
  readonly start: StartFigures;
  readonly streams: readonly IdleStreams[];
  /** CPU time of each process in percent of a core. */
  readonly cpuPercent: Readonly<Record<string, number>>;
}

export interface StartFigures {
  /** From starting the processes until all of them are ready. */
  readonly seconds: number;
  /** CPU time of all processes until then. */
  readonly cpuSeconds: number;
  /** Resident memory of the largest process when all are ready, before any request. */
  readonly residentMb: number;
}

export interface IdleStreams {
  readonly transport: Transport;
  readonly streams: number;
  /** Additional resident memory of the servers, in kilobytes of 1,000 bytes. */
  readonly kilobytesPerStream: number;
}

type Options = Omit<TocsinOptions, 'topics'>;

/** Streams opened concurrently. */
const opensMax = 50;
/** The garbage collector runs several times in this time. */
const settleMs = 3_000;
const samples = 9;
const sampleMs = 1_000;
const bytesPerMb = 1_024 * 1_024;

/** Measures starts, the CPU time without requests, and the memory of streams on which nothing is delivered. */
export async function measureIdle(size: BenchSize['idle'], options: Options): Promise<IdleFigures> {
  const starts = await measureStarts(size, options);
  const streams: IdleStreams[] = [];
  let cpuPercent: Record<string, number> = {};
  for (const transport of transports) {
    const tocsin = await startTocsin({ ...options, topics: 1 });
    try {
      if (transport === 'sse') cpuPercent = await measureCpu(tocsin, size.seconds);
      streams.push(await measureStreams(tocsin, transport, size));
    } finally {
      await tocsin.stop();
    }
  }
  return { ...starts, streams, cpuPercent };
}

async function measureStarts(
  { starts }: BenchSize['idle'],
  options: Options,
): Promise<Pick<IdleFigures, 'firstStart' | 'start'>> {
  const dir = mkdtempSync(join(tmpdir(), 'tocsin-bench-'));
  const figures: StartFigures[] = [];
  try {
    while (figures.length <= starts) {
      const began = performance.now();
      const stack = await startStack(options, dir);
      const seconds = (performance.now() - began) / 1_000;
      const pids = stack.servers.map(({ pid }) => pid);
      const largestMb = Math.max(...pids.map((pid) => residentMb([pid])));
      figures.push({ seconds, cpuSeconds: cpuMs(pids) / 1_000, residentMb: largestMb });
      await stack.stop();
      if (figures.length > starts) await removeRun(stack);
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
  const [firstStart, ...later] = figures;
  const middle = (of: keyof StartFigures) => median(later.map((start) => start[of]));
  return {
    firstStart: firstStart!,
    start: { seconds: middle('seconds'), cpuSeconds: middle('cpuSeconds'), residentMb: middle('residentMb') },
  };
}

async function measureCpu({ pids }: TocsinTarget, seconds: number): Promise<Record<string, number>> {
  await pause(settleMs);
  const before = Object.entries(pids).map(([name, pid]) => [name, pid, cpuMs([pid])] as const);
  const began = performance.now();
  await pause(seconds * 1_000);
  const percentPerMs = 100 / (performance.now() - began);
  return Object.fromEntries(before.map(([name, pid, ms]) => [name, (cpuMs([pid]) - ms) * percentPerMs]));
}

/** Opens some streams before the first sample, so that compiled code and the young generation count for none. */
async function measureStreams(
  { ports, serverPids, topics }: TocsinTarget,
  transport: Transport,
  { streams, warmUpStreams }: BenchSize['idle'],
): Promise<IdleStreams> {
  const path = `/${topics[0]!.name}/${transport}`;
  const open: EventConnection[] = [];
  const openUpTo = async (count: number) => {
    while (open.length < count) {
      const next = Math.min(opensMax, count - open.length);
      const opening = Array.from({ length: next }, (_, index) =>
        EventConnection.open({ port: ports[(open.length + index) % ports.length]!, path, transport }, () => undefined),
      );
      open.push(...(await Promise.all(opening)));
    }
    return settledMb(serverPids);
  };
  try {
    const before = await openUpTo(warmUpStreams);
    const after = await openUpTo(warmUpStreams + streams);
    return { transport, streams, kilobytesPerStream: ((after - before) * bytesPerMb) / 1_000 / streams };
  } finally {
    for (const connection of open) connection.close();
  }
}

async function settledMb(pids: readonly number[]): Promise<number> {
  await pause(settleMs);
  const sampled: number[] = [];
  while (sampled.length < samples) {
    sampled.push(residentMb(pids));
    await pause(sampleMs);
  }
  return median(sampled);
}
