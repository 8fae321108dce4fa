import { Link } from 'wouter-preact';
import { call, CallFailed } from '../../api/call.ts';
import type { MetricsSample, QueueDepth, RecentMetrics } from '../../api/wire.ts';
import { Note, Section } from '../../parts/card.tsx';
import { Loading } from '../../parts/loading.tsx';
import { adminPath } from '../../parts/paths.ts';
import { completeTime, timeAgo } from '../../parts/time/times.ts';
import { useLoad } from '../../parts/use-load.ts';
import { LineChart } from './line-chart.tsx';
import { countOf, formatNumber } from './numbers.ts';
import { callAsOperator } from './operator.ts';
import { usePolling } from '../../parts/use-polling.ts';

const pollMs = 10_000;

/** The body of `GET /health/ready`. */
interface Readiness {
  readonly status: 'ok' | 'down';
  readonly parts: Readonly<Record<string, 'ok' | 'down'>>;
  readonly unavailable_partitions?: number;
}

interface Loaded {
  readonly metrics: RecentMetrics;
  readonly readiness: Readiness;
}

/** Health and load of the server. */
export function Overview() {
  const { loaded, reload } = useLoad(loadOverview, 'overview');
  usePolling(reload, pollMs);
  return (
    <Loading loaded={loaded} retry={reload} rows={6}>
      {({ metrics, readiness }) => (
        <>
          <Health {...readiness} />
          <Server {...metrics.process} />
          <LastHour {...metrics} />
          <Queues queues={metrics.queues} />
        </>
      )}
    </Loading>
  );
}

async function loadOverview(): Promise<Loaded> {
  const [metrics, readiness] = await Promise.all([
    callAsOperator<RecentMetrics>('GET', '/admin/metrics/recent'),
    call<Readiness>('GET', '/health/ready', { isPublic: true }).catch((error: unknown) => {
      // A server that is not ready answers 503 with its parts.
      if (error instanceof CallFailed && isReadiness(error.body)) return error.body;
      throw error;
    }),
  ]);
  return { metrics, readiness };
}

const isReadiness = (body: unknown): body is Readiness => typeof body === 'object' && body !== null && 'parts' in body;

const partNames: Readonly<Record<string, string>> = {
  log: 'Event log',
  database: 'Database',
  queue: 'Job queue',
  bus: 'Bus',
};

function Health({ status, parts, unavailable_partitions: unavailable = 0 }: Readiness) {
  const isDegraded = unavailable > 0 || Object.values(parts).includes('down');
  return (
    <Section title="Health">
      <Note
        isBad={status === 'down' || isDegraded}
        text={
          status === 'down'
            ? 'The server is not ready: a part has been down for 15 seconds, or the server is shutting down.'
            : isDegraded
              ? 'The server is ready, but not everything is up.'
              : 'The server is ready, and all its parts are up.'
        }
      />
      <ul class="rows parts">
        {Object.entries(parts).map(([name, state]) => (
          <li key={name}>
            <span class="grow">{partNames[name] ?? name}</span>
            <span class={`badge ${state === 'ok' ? 'sent' : 'failed'}`}>{state === 'ok' ? 'up' : 'down'}</span>
          </li>
        ))}
        {unavailable > 0 && (
          <li>
            <span class="grow">Partitions of the log that accept no messages</span>
            <span class="badge failed">{formatNumber(unavailable)}</span>
          </li>
        )}
      </ul>
    </Section>
  );
}

function Server({ version, engine, host, pid, node_version: node, started_at: startedAt }: RecentMetrics['process']) {
  const facts = [
    ['Tocsin', version],
    ['Node.js', node],
    ['Engine', engine],
    ['Process', `${pid} on ${host}`],
  ] as const;
  return (
    <Section title="Server">
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <bdi>{value}</bdi>
            </dd>
          </div>
        ))}
        <div>
          <dt>Started</dt>
          <dd title={completeTime(startedAt)}>{timeAgo(startedAt)}</dd>
        </div>
      </dl>
    </Section>
  );
}

const noPushes = 'not sent by this process';
const charts: readonly (readonly [title: string, field: Exclude<keyof MetricsSample, 'at'>, unknown: string])[] = [
  ['Publishes per second', 'publishes_per_second', 'no values yet'],
  ['Pushes per second', 'pushes_per_second', noPushes],
  ['Server errors per second', 'server_errors_per_second', 'no values yet'],
  ['Open streams', 'open_streams', 'no values yet'],
  ['Fan-out lag (records)', 'fanout_lag_records', 'the log is down'],
  ['Notifier lag (records)', 'notifier_lag_records', 'the log is down'],
  ['Jobs in the queues', 'queued_jobs', 'the queue is down'],
];

function LastHour({ process, samples, interval_seconds: seconds }: RecentMetrics) {
  const current = samples.at(-1);
  // Without an earlier sample, all rates are unknown.
  const sendsPushes = current?.pushes_per_second !== null || current.publishes_per_second === null;
  return (
    <Section title="Last hour" hint={originOf(process, seconds)}>
      <div class="charts">
        {charts.map(([title, field, unknown]) => (
          <LineChart
            key={field}
            title={title}
            points={samples.map((sample) => ({ atMs: Date.parse(sample.at), value: sample[field] }))}
            unknown={unknown === noPushes && sendsPushes ? 'no values yet' : unknown}
          />
        ))}
      </div>
    </Section>
  );
}

/** Which process the values come from. */
function originOf({ pid, host, engine }: RecentMetrics['process'], seconds: number): string {
  const source = `Process ${pid} on ${host} samples its values every ${countOf(seconds, 'second')} since its start.`;
  if (engine === 'embedded') return source;
  return (
    `${source} Publishes, pushes, errors and streams are those of this process alone; lags and jobs are ` +
    'those of the whole installation. If several API nodes share this address, each reload can reach another one.'
  );
}

function Queues({ queues }: Pick<RecentMetrics, 'queues'>) {
  return (
    <Section title="Queues">
      {queues === null ? (
        <Note isBad text="The job queue is down." />
      ) : (
        <ul class="rows">
          {queues.map((depth) => (
            <li key={depth.queue}>
              <span class="grow">{depth.queue}</span>
              <span class="soft">{depthText(depth)}</span>
              {depth.failed > 0 && <Failed {...depth} />}
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

/** The failed jobs of a queue of pushes are dead letters. */
function Failed({ queue, failed }: QueueDepth) {
  const text = `${formatNumber(failed)} failed`;
  if (!/^push-(urgent|normal)/.test(queue)) return <span class="badge failed">{text}</span>;
  return (
    <Link class="badge failed" href={adminPath('dead-letters')}>
      {text}
    </Link>
  );
}

function depthText(depth: QueueDepth): string {
  const states = (['waiting', 'delayed', 'active'] as const).filter((state) => depth[state] > 0);
  return states.length === 0 ? 'empty' : states.map((state) => `${formatNumber(depth[state])} ${state}`).join(' · ');
}
