import type { BenchReport } from './bench-report.ts';
import { mongoRequestsOf } from './count-engine-requests.ts';
import { marksOf } from './marks.ts';
import type { FanOutFigures } from './measure-fan-out.ts';
import type { IdleFigures } from './measure-idle.ts';
import type { PublishFigures } from './measure-publishing.ts';
import type { ReadFigures, SearchedPublishFigures } from './measure-reading.ts';
import type { PublishSpan, RetentionFigures } from './measure-retention.ts';
import { median } from './percentiles.ts';
import type { ReplayFigures } from './measure-replay.ts';
import type { ScalingFigures } from './measure-scaling.ts';

/** Formats the report as text: tables, then the targets. */
export function formatReport(report: BenchReport): string {
  const { engine, node, cores, load } = report;
  return [
    `Tocsin ${engine}, Node ${node}, ${cores} cores, load ${load.before.toFixed(1)} before and ${load.after.toFixed(1)} after`,
    ...(report.publishing === undefined
      ? []
      : ['', 'Publishing', publishTable(report.publishing), workTable(report.publishing)]),
    ...(report.fanOut === undefined ? [] : ['', 'Fan-out', fanOutTable(report.fanOut)]),
    ...(report.reading === undefined
      ? []
      : ['', 'Reading', readingTable(report.reading.reads), searchedPublishTable(report.reading.publishing)]),
    ...(report.retention === undefined ? [] : ['', 'Retention', retentionTable(report.retention)]),
    ...(report.replay === undefined ? [] : ['', 'Replay', replayTable(report.replay)]),
    ...(report.idle === undefined ? [] : ['', 'Idle', ...idleTables(report.idle)]),
    ...(report.scaling === undefined ? [] : ['', 'Scaling', scalingTable(report.scaling)]),
    '',
    ...marksOf(report).map(({ says, figure, passed }) => `${passed ? 'passed' : 'MISSED'}  ${says}: ${short(figure)}`),
    '',
  ].join('\n');
}

function publishTable(figures: readonly PublishFigures[]): string {
  const head = [
    'connections',
    'server',
    'msg/s',
    'range',
    '× bare',
    '× express',
    '× floor',
    '× floor p99',
    'p50 ms',
    'p99 ms',
    'server µs',
    'engines µs',
    'generator µs',
    'not 200',
  ];
  return table(
    head,
    figures.map((one) => [
      one.connections,
      one.server,
      whole(one.perSecond),
      `${whole(one.range[0])}–${whole(one.range[1])}`,
      short(one.timesBare),
      short(one.timesExpress),
      optional(one.timesFloor),
      optional(one.timesFloorP99),
      short(one.p50Ms),
      short(one.p99Ms),
      short(one.serverUs),
      optional(one.enginesUs),
      short(one.generatorUs),
      one.not200,
    ]),
  );
}

function scalingTable(figures: readonly ScalingFigures[]): string {
  const head = [
    'service',
    'processes',
    'topics',
    'msg/s',
    'p99 ms',
    'CPU µs by service',
    'busiest process',
    'MongoDB requests',
    'Redis commands',
  ];
  return table(
    head,
    figures.map((one) => [
      one.service,
      one.processes,
      one.topics,
      whole(one.perSecond),
      short(one.p99Ms),
      listed(one.serviceUs),
      `${whole(one.busiestShare * 100)} %`,
      short(one.mongoRequests),
      short(one.redisCommands),
    ]),
  );
}

/** Requests to the engines and CPU time per message, of the servers that use engines. */
function workTable(figures: readonly PublishFigures[]): string {
  const rows = figures.flatMap(({ server, connections, requests, processUs }) => {
    if (requests === null || (server !== 'floor' && server !== 'tocsin')) return [];
    return [
      [
        connections,
        server,
        short(mongoRequestsOf(requests)),
        listed(requests.mongo),
        short(requests.redis),
        listed(processUs),
      ],
    ];
  });
  if (rows.length === 0) return '';
  return `\n${table(['connections', 'server', 'MongoDB requests', 'by command', 'Redis commands', 'CPU µs by process'], rows)}`;
}

const listed = (values: Readonly<Record<string, number>>): string =>
  Object.entries(values)
    .sort(([, a], [, b]) => b - a)
    .map(([name, value]) => `${name} ${short(value)}`)
    .join(', ');

function fanOutTable(figures: readonly FanOutFigures[]): string {
  const head = [
    'streams',
    'topics',
    'server',
    'publishes/s',
    'deliveries/s',
    'p50 ms',
    'p99 ms',
    'max ms',
    'lost',
    'repeated',
    'out of order',
    'publish p50/p99 ms',
    'server µs',
    'engines µs',
    'generator µs',
    'MB before/after',
  ];
  return table(
    head,
    figures.map((one) => [
      one.transport,
      one.topics,
      one.server,
      short(one.published),
      whole(one.deliveriesPerSecond),
      short(one.latencyMs.p50),
      short(one.latencyMs.p99),
      short(one.latencyMs.max),
      one.lost,
      one.repeated,
      one.outOfOrder,
      `${short(one.publishMs.p50)}/${short(one.publishMs.p99)}`,
      short(one.cpuUs.server),
      optional(one.cpuUs.engines),
      short(one.cpuUs.generator),
      `${whole(one.residentMb.before)}/${whole(one.residentMb.after)}`,
    ]),
  );
}

/**
 * Each kind of read with one row per store size. `×` is the slowdown relative to the smallest store, at the median and
 * p99.
 */
function readingTable(figures: readonly ReadFigures[]): string {
  const head = [
    'read',
    'page',
    'messages',
    'readers',
    'reads/s',
    'p50 ms',
    'p99 ms',
    'max ms',
    '× p50',
    '× p99',
    'server µs',
    'not 200',
  ];
  const kinds = [...new Set(figures.map(({ read }) => read))];
  return table(
    head,
    kinds
      .flatMap((read) => figures.filter((one) => one.read === read))
      .map((one) => {
        const smallest = figures.find(({ read }) => read === one.read)!;
        return [
          one.read,
          one.isPage ? 'yes' : '',
          one.messages,
          one.readers,
          whole(one.perSecond),
          short(one.latencyMs.p50),
          short(one.latencyMs.p99),
          short(one.latencyMs.max),
          short(one.latencyMs.p50 / smallest.latencyMs.p50),
          short(one.latencyMs.p99 / smallest.latencyMs.p99),
          short(one.serverUs),
          one.not200,
        ];
      }),
  );
}

/** Latencies are the medians over the spans, followed by the range of the 99th percentiles. */
function retentionTable({
  messages,
  expired,
  planMs,
  removed,
  removeSeconds,
  alone,
  concurrent: all,
  timesP99,
  drift,
}: RetentionFigures): string {
  const concurrent = all.slice(0, alone.length);
  const head = [
    'messages',
    'expired',
    'plan ms',
    'removed',
    'seconds',
    'removed/s',
    'spans',
    'publish p50/p99 ms alone',
    'concurrent',
    '× p99',
    'server µs',
    'engines µs',
    'drift',
  ];
  const latency = (spans: readonly PublishSpan[]) => {
    const p99 = spans.map(({ latencyMs }) => latencyMs.p99);
    return `${short(median(spans.map(({ latencyMs }) => latencyMs.p50)))}/${short(median(p99))} (${short(Math.min(...p99))}–${short(Math.max(...p99))})`;
  };
  const cpu = (of: 'server' | 'engines') =>
    [alone, concurrent].map((spans) => optional(median(spans.map(({ cpuUs }) => cpuUs[of] ?? 0)))).join('/');
  return table(head, [
    [
      messages,
      expired,
      whole(planMs),
      removed,
      short(removeSeconds),
      whole(removed / removeSeconds),
      `${alone.length}/${all.length}`,
      latency(alone),
      latency(concurrent),
      short(timesP99),
      cpu('server'),
      cpu('engines'),
      drift,
    ],
  ]);
}

function searchedPublishTable(figures: readonly SearchedPublishFigures[]): string {
  if (figures.length === 0) return '';
  return table(
    ['messages', 'concurrent searches', 'publish p99 ms alone', 'concurrent', '×'],
    figures.map(({ messages, searches, alone, concurrent }) => [
      messages,
      searches,
      short(alone.p99),
      short(concurrent.p99),
      short(concurrent.p99 / alone.p99),
    ]),
  );
}

function replayTable(figures: readonly ReplayFigures[]): string {
  const head = ['by', 'readers', 'messages/s', 'server µs', 'engines µs', 'generator µs', 'missing'];
  return table(
    head,
    figures.map((one) => [
      one.by,
      one.readers,
      whole(one.perSecond),
      short(one.serverUs),
      optional(one.enginesUs),
      optional(one.generatorUs),
      one.missing,
    ]),
  );
}

function idleTables({ firstStart, start, streams, cpuPercent }: IdleFigures): string[] {
  const starts = Object.entries({ 'on empty data': firstStart, 'on existing data': start });
  return [
    table(
      ['start', 'seconds', 'CPU seconds', 'MB of the largest process'],
      starts.map(([name, one]) => [name, short(one.seconds), short(one.cpuSeconds), whole(one.residentMb)]),
    ),
    table(
      ['idle streams', 'transport', 'kB per stream'],
      streams.map((one) => [one.streams, one.transport, short(one.kilobytesPerStream)]),
    ),
    `CPU without requests, % of a core: ${listed(cpuPercent)}`,
  ];
}

function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const cells = [head, ...rows.map((row) => row.map(String))];
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  const lines = cells.map((row) => `| ${row.map((cell, column) => cell.padStart(widths[column]!)).join(' | ')} |`);
  return [lines[0], `|${widths.map((width) => `${'-'.repeat(width + 1)}:`).join('|')}|`, ...lines.slice(1)].join('\n');
}

const whole = (value: number) => value.toFixed(0);
const optional = (value: number | null) => (value === null ? '' : short(value));

/** Rounds to about three digits. */
function short(value: number): string {
  if (value >= 100) return value.toFixed(0);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
