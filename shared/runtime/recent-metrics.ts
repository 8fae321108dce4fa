import { fanoutGroup, notifierGroup } from '../domain/log/log-groups.ts';
import { toIso } from '../domain/to-iso.ts';
import { within } from '../async/within.ts';
import type { Clock } from '../platform/clock.ts';
import type { Engine } from '../ports/engine.ts';
import type { MetricsSampleJson, QueueDepthJson } from '../wire/metrics-sample.ts';
import type { Registry } from 'prom-client';
import { countJobs } from './show-queues.ts';

/** A chart of an hour needs no more. */
export const sampleIntervalMs = 15_000;
/** An hour. */
const samplesMax = 240;
/** Rates over a shorter time jump. */
const rateMsMin = 5_000;
/** Without a response after this time, the value is unknown. */
const readTimeoutMs = 2_500;

export interface RecentMetricsDeps {
  readonly engine: Pick<Engine, 'eventLog' | 'jobQueue'>;
  readonly metrics: Registry;
  readonly clock: Clock;
  /** Monotonic milliseconds. Default: `performance.now`. */
  readonly nowMs?: () => number;
}

interface Reading {
  readonly atMs: number;
  /** Totals since the start of the process; null if it does not count them. */
  readonly totals: { readonly publishes: number; readonly serverErrors: number; readonly pushes: number | null };
  readonly queues: readonly QueueDepthJson[] | null;
  readonly sample: MetricsSampleJson;
}

/** The metrics of the last hour, sampled in memory, for an operator without Prometheus. Lost with the process. */
export class RecentMetrics {
  readonly #deps: RecentMetricsDeps;
  readonly #readings: Reading[] = [];
  readonly #timer: NodeJS.Timeout;
  #current: Promise<Reading> | null = null;

  constructor(deps: RecentMetricsDeps) {
    this.#deps = deps;
    void this.#keep();
    this.#timer = setInterval(() => void this.#keep(), sampleIntervalMs);
    this.#timer.unref();
  }

  /** Returns the samples, oldest first, the last of now, and the depths of the queues. Never rejects. */
  async read(): Promise<{ samples: MetricsSampleJson[]; queues: readonly QueueDepthJson[] | null }> {
    const { sample, queues } = await this.#take();
    return { samples: [...this.#readings.map((reading) => reading.sample), sample], queues };
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#current;
  }

  async #keep(): Promise<void> {
    this.#readings.push(await this.#take());
    if (this.#readings.length > samplesMax) this.#readings.shift();
  }

  /** Concurrent callers share a reading, so that requests cannot flood the engine. */
  #take(): Promise<Reading> {
    this.#current ??= this.#measure().finally(() => {
      this.#current = null;
    });
    return this.#current;
  }

  async #measure(): Promise<Reading> {
    const { engine, metrics, clock, nowMs = () => performance.now() } = this.#deps;
    const [fanoutLag, notifierLag, queues, totals] = await Promise.all([
      orNull(() => engine.eventLog.lag(fanoutGroup)),
      orNull(() => engine.eventLog.lag(notifierGroup)),
      orNull(() => countJobs(engine.jobQueue)),
      readTotals(metrics),
    ]);
    const atMs = nowMs();
    const before = this.#readings.findLast((reading) => atMs - reading.atMs >= rateMsMin);
    const rate = (name: keyof Reading['totals']): number | null => {
      const total = totals[name];
      if (before === undefined || total === null) return null;
      // A service that started later counts from zero.
      return ((total - (before.totals[name] ?? 0)) * 1_000) / (atMs - before.atMs);
    };
    const sample = {
      at: toIso(clock()),
      publishes_per_second: rate('publishes'),
      server_errors_per_second: rate('serverErrors'),
      pushes_per_second: rate('pushes'),
      fanout_lag_records: fanoutLag,
      notifier_lag_records: notifierLag,
      queued_jobs: queues === null ? null : queues.reduce((sum, queue) => sum + queue.waiting + queue.delayed, 0),
      open_streams: (await sumOf(metrics, 'tocsin_open_streams', () => true)) ?? 0,
    };
    return { atMs, totals, queues, sample };
  }
}

const orNull = <T>(read: () => Promise<T>): Promise<T | null> =>
  within(readTimeoutMs, 'a metric', Promise.resolve().then(read)).catch(() => null);

const publishOperations = new Set(['publish', 'publishByPut', 'publishJson', 'publishJsonByPut']);

async function readTotals(metrics: Registry): Promise<Reading['totals']> {
  const requests = 'tocsin_http_request_seconds';
  const isCount = ({ metricName }: Value) => metricName === `${requests}_count`;
  const [publishes, serverErrors, pushes] = await Promise.all([
    sumOf(
      metrics,
      requests,
      (value) =>
        isCount(value) && value.labels['status'] === '2xx' && publishOperations.has(String(value.labels['operation'])),
    ),
    sumOf(metrics, requests, (value) => isCount(value) && value.labels['status'] === '5xx'),
    sumOf(metrics, 'tocsin_push_outcomes_total', ({ labels }) => labels['status'] === 'sent'),
  ]);
  return { publishes: publishes ?? 0, serverErrors: serverErrors ?? 0, pushes };
}

interface Value {
  readonly value: number;
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number | undefined>>;
}

/** Returns the sum of a metric's values that match; null if the process does not have the metric. */
async function sumOf(metrics: Registry, name: string, matches: (value: Value) => boolean): Promise<number | null> {
  const metric = metrics.getSingleMetric(name);
  if (metric === undefined) return null;
  const { values } = (await metric.get()) as { readonly values: readonly Value[] };
  return values.filter(matches).reduce((sum, { value }) => sum + value, 0);
}
