import { searchMsMax } from '@tocsin/shared/ports/messages/search-limit.ts';
import type { BenchReport } from './bench-report.ts';
import { mongoRequestsOf } from './count-engine-requests.ts';

/** A target and whether the run met it. A run that misses a target exits with 1. A busy machine may miss targets. */
export interface Mark {
  readonly says: string;
  readonly figure: number;
  readonly passed: boolean;
}

const streamsMarked = 1_000;
const messagesMarked = 1_000_000;
/** Of the kinds of read of history. */
const messagesPerPage = 100;
const retentionMarked = 900_000;
/** Allowance for a search that waits in the queue and for returning the error. */
const searchEndMs = 1_000;

/** Returns the targets of the engine that apply to the sizes of this run. */
export function marksOf(report: BenchReport): Mark[] {
  const { engine, publishing, fanOut, replay, size } = report;
  const marks: Mark[] = [];
  const add: Add = (says, figure, passes) => {
    if (typeof figure === 'number') marks.push({ says, figure, passed: passes(figure) });
  };
  if (engine === 'embedded') {
    const at64 = publishing?.find(({ server, connections }) => server === 'tocsin' && connections === 64);
    add('publishing over 64 connections reaches half of Express', at64?.timesExpress, (times) => times >= 0.5);
    add('publishing over 64 connections reaches half of node:http', at64?.timesBare, (times) => times >= 0.5);
    const at1 = publishing?.find(({ server, connections }) => server === 'tocsin' && connections === 1);
    add('CPU time of a publish on one connection within 400 µs', at1?.serverUs, (us) => us <= 400);
    const byLog = replay?.find(({ by, readers }) => by === 'log' && readers === 1);
    add('one reader of the log gets more than 50,000 messages/s', byLog?.perSecond, (perSecond) => perSecond > 50_000);
    const bySse = replay?.find(({ by }) => by === 'sse');
    add('a resuming SSE stream gets 150,000 messages/s', bySse?.perSecond, (perSecond) => perSecond >= 150_000);
  }
  if (engine === 'cluster') markClusterPublishing(report, add);
  markIdle(report, add);
  markReading(report, add);
  markRetention(report, add);
  if (size.fanOut.streams < streamsMarked) return marks;
  if (engine === 'embedded') markDeliveryCpu(report, add);
  const { streams, messagesPerSecond } = size.fanOut;
  const due = streams * messagesPerSecond;
  for (const one of fanOut?.filter(({ server }) => server === 'tocsin') ?? []) {
    const { transport, topics, latencyMs, deliveriesPerSecond } = one;
    const which = `${streams} ${transport} streams${topics === 1 ? '' : ` of ${topics} topics`}`;
    const within = engine === 'cluster' && topics === 1 ? 60 : 100;
    add(`99 % of deliveries to ${which} within ${within} ms`, latencyMs.p99, (ms) => ms < within);
    if (engine === 'cluster' && topics === 1)
      add(`deliveries/s to ${which} of ${due}`, deliveriesPerSecond, (rate) => rate >= reached * due);
  }
  return marks;
}

/** The measurement ends some milliseconds after the last second. */
const reached = 0.99;
/** By connections: the least rate relative to the floor. */
const timesFloorMin = new Map([
  [1, 0.8],
  [16, 0.7],
  [64, 0.7],
  [1_024, 0.7],
]);
/** By connections: the most requests to MongoDB per publish. */
const mongoRequestsMax = new Map([
  [1, 4],
  [64, 0.25],
]);
const timesFloorP99Max = 1.5;

function markClusterPublishing({ publishing }: BenchReport, add: Add): void {
  for (const one of publishing?.filter(({ server }) => server === 'tocsin') ?? []) {
    const over = `${one.connections} connection${one.connections === 1 ? '' : 's'}`;
    const least = timesFloorMin.get(one.connections);
    if (least !== undefined)
      add(`publishing over ${over} reaches ${least} times the floor`, one.timesFloor, (times) => times >= least);
    const most = mongoRequestsMax.get(one.connections);
    if (most !== undefined)
      add(
        `requests to MongoDB per publish over ${over} at most ${most}`,
        one.requests && mongoRequestsOf(one.requests),
        (count) => count <= most,
      );
    if (one.connections === 64)
      add(
        `99 % of publishes over ${over} take at most ${timesFloorP99Max} times as long as with the floor`,
        one.timesFloorP99,
        (times) => times <= timesFloorP99Max,
      );
  }
}

/** Adds a target, unless the run has no figure for it. */
type Add = (says: string, figure: number | null | undefined, passes: (figure: number) => boolean) => void;

const startSecondsMax = 1;
const startMbMax = 120;
const streamKilobytesMax = { sse: 25, ws: 14 } as const;
const idleClusterPercentMax = 8;

/** A cluster's processes start together on the cores of the machine, so their time has no target. */
function markIdle({ engine, idle }: BenchReport, add: Add): void {
  if (idle === undefined) return;
  const { start, streams, cpuPercent } = idle;
  const percent = Object.values(cpuPercent).reduce((sum, one) => sum + one, 0);
  if (engine === 'cluster') {
    add('CPU of an idle cluster with its engines within 8 % of a core', percent, (all) => all <= idleClusterPercentMax);
    return;
  }
  add('seconds from start to ready within 1', start.seconds, (seconds) => seconds <= startSecondsMax);
  add('MB before the first request within 120', start.residentMb, (mb) => mb <= startMbMax);
  for (const { transport, kilobytesPerStream } of streams) {
    const max = streamKilobytesMax[transport];
    add(`kB per idle ${transport} stream within ${max}`, kilobytesPerStream, (kilobytes) => kilobytes <= max);
  }
}

const deliveryTimesBareMax = { sse: 1.2, ws: 1.4 } as const;

function markDeliveryCpu({ fanOut }: BenchReport, add: Add): void {
  for (const { transport, topics, cpuUs } of fanOut?.filter(({ server }) => server === 'tocsin') ?? []) {
    const bare = fanOut!.find((one) => one.server === 'bare' && one.transport === transport);
    if (bare === undefined || topics > 1) continue;
    const max = deliveryTimesBareMax[transport];
    add(
      `CPU time of a delivery by ${transport} within ${max} times that of a bare server`,
      cpuUs.server / bare.cpuUs.server,
      (times) => times <= max,
    );
  }
}

/** Checks reads on the largest store, if it has at least `messagesMarked` messages. */
function markReading({ engine, reading }: BenchReport, add: Add): void {
  const messages = Math.max(...(reading?.reads ?? []).map((one) => one.messages));
  if (messages < messagesMarked) return;
  const reads = reading!.reads.filter((one) => one.messages === messages);
  const longestOf = (name: string, figure: 'p50' | 'max') =>
    highest(reads.filter(({ read }) => read.startsWith(name)).map(({ latencyMs }) => latencyMs[figure]));
  const inLargeTopic = longestOf('text in large topic', 'p50');
  if (engine === 'cluster') {
    add('text search in the large topic within 500 ms', inLargeTopic, (ms) => ms < 500);
    add(
      'every search ends within its time limit, in milliseconds',
      longestOf('text', 'max'),
      (ms) => ms < searchMsMax + searchEndMs,
    );
    return;
  }
  const histories = reads.filter(({ read }) => read.startsWith('history'));
  add(
    'CPU time per message of history pages of 100 within 6 µs',
    highest(histories.map(({ serverUs }) => serverUs / messagesPerPage)),
    (us) => us <= 6,
  );
  const pages = reads.filter(({ isPage }) => isPage).sort((a, b) => b.latencyMs.p99 - a.latencyMs.p99);
  add(
    `99 % of every kind of page within 50 ms (the slowest: ${pages[0]?.read})`,
    pages[0]?.latencyMs.p99,
    (ms) => ms < 50,
  );
  if (pages.length > 0)
    add(
      'pages with a status other than 200',
      pages.reduce((sum, { not200 }) => sum + not200, 0),
      (count) => count === 0,
    );
  const refused = reads
    .filter(({ read }) => read.startsWith('text in large topic'))
    .reduce((sum, { not200 }) => sum + not200, 0);
  add('text search in the large topic within 150 ms', refused > 0 ? Infinity : inLargeTopic, (ms) => ms < 150);
  const publishing = reading!.publishing.find((one) => one.messages === messages);
  add(
    '99 % of publishes during four concurrent searches take at most twice as long',
    publishing && publishing.concurrent.p99 / publishing.alone.p99,
    (times) => times <= 2,
  );
}

/** Publish latency is checked only on a large store, where the removal outlasts the measurement. */
function markRetention({ retention }: BenchReport, add: Add): void {
  if (retention === undefined) return;
  add('removed messages equal expired messages: difference', retention.removed - retention.expired, (off) => off === 0);
  add('counts are exact after a removal: difference', retention.drift, (drift) => drift === 0);
  if (retention.messages < retentionMarked) return;
  add('99 % of publishes during a removal take at most 1.5 times as long', retention.timesP99, (times) => times <= 1.5);
}

/** The highest of the figures; undefined for an empty list. */
function highest(figures: readonly number[]): number | undefined {
  return figures.length === 0 ? undefined : Math.max(...figures);
}
