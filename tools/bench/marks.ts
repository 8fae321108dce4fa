import type { BenchReport } from './bench-report.ts';

/** What the figures should reach, and whether they did. A noisy machine may miss one, so no run fails by it. */
export interface Mark {
  readonly says: string;
  readonly figure: number;
  readonly passed: boolean;
}

const streamsMarked = 1_000;

/** The marks that this run's sizes allow to judge: those of the embedded engine, but for the latency of streams. */
export function marksOf({ engine, publishing, fanOut, replay, size }: BenchReport): Mark[] {
  const marks: Mark[] = [];
  const add = (says: string, figure: number | undefined, passes: (figure: number) => boolean) => {
    if (figure !== undefined) marks.push({ says, figure, passed: passes(figure) });
  };
  if (engine === 'embedded') {
    const at64 = publishing?.find(({ server, connections }) => server === 'tocsin' && connections === 64);
    add('publishing over 64 connections reaches half of Express', at64?.timesExpress, (times) => times >= 0.5);
    const byLog = replay?.find(({ by, readers }) => by === 'log' && readers === 1);
    add('one reader of the log gets more than 50,000 messages/s', byLog?.perSecond, (perSecond) => perSecond > 50_000);
  }
  if (size.fanOut.streams < streamsMarked) return marks;
  for (const { transport, latencyMs } of fanOut?.filter(({ server }) => server === 'tocsin') ?? []) {
    add(`99 % of deliveries to ${size.fanOut.streams} ${transport} streams within 100 ms`, latencyMs.p99, (ms) => ms < 100);
  }
  return marks;
}
