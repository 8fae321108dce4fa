import type { BenchReport } from './bench-report.ts';

/** What the figures should reach, and whether they did. A noisy machine may miss one, so no run fails by it. */
export interface Mark {
  readonly says: string;
  readonly figure: number;
  readonly passed: boolean;
}

const streamsMarked = 1_000;
const messagesMarked = 1_000_000;

/** The marks that this run's sizes allow to judge: those of the embedded engine, but for the latency of streams. */
export function marksOf({ engine, publishing, fanOut, reading, replay, size }: BenchReport): Mark[] {
  const marks: Mark[] = [];
  const add = (says: string, figure: number | undefined, passes: (figure: number) => boolean) => {
    if (figure !== undefined) marks.push({ says, figure, passed: passes(figure) });
  };
  if (engine === 'embedded') {
    const at64 = publishing?.find(({ server, connections }) => server === 'tocsin' && connections === 64);
    add('publishing over 64 connections reaches half of Express', at64?.timesExpress, (times) => times >= 0.5);
    markReading(reading, add);
    const byLog = replay?.find(({ by, readers }) => by === 'log' && readers === 1);
    add('one reader of the log gets more than 50,000 messages/s', byLog?.perSecond, (perSecond) => perSecond > 50_000);
  }
  if (size.fanOut.streams < streamsMarked) return marks;
  for (const { transport, topics, latencyMs } of fanOut?.filter(({ server }) => server === 'tocsin') ?? []) {
    add(`99 % of deliveries to ${size.fanOut.streams} ${transport} streams${topics === 1 ? '' : ` of ${topics} topics`} within 100 ms`, latencyMs.p99, (ms) => ms < 100);
  }
  return marks;
}

/** Judged on the largest store, where it is as large as the marks are about. */
function markReading(reading: BenchReport['reading'], add: (says: string, figure: number | undefined, passes: (figure: number) => boolean) => void): void {
  const messages = Math.max(...(reading?.reads ?? []).map((one) => one.messages));
  if (messages < messagesMarked) return;
  const reads = reading!.reads.filter((one) => one.messages === messages);
  add('99 % of every kind of page within 50 ms', Math.max(...reads.filter(({ isPage }) => isPage).map(({ latencyMs }) => latencyMs.p99)), (ms) => ms < 50);
  add('a text in the large topic is searched within 150 ms', Math.max(...reads.filter(({ read }) => read.startsWith('text')).map(({ latencyMs }) => latencyMs.p50)), (ms) => ms < 150);
  const publishing = reading!.publishing.find((one) => one.messages === messages);
  add('99 % of publishes beside four searches take at most twice as long', publishing && publishing.beside.p99 / publishing.alone.p99, (times) => times <= 2);
}
