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
      open_streams: sumOf((await valuesOf(metrics, 'tocsin_open_streams')) ?? []),
    };
    return { atMs, totals, queues, sample };
  }
}

const orNull = <T>(read: () => Promise<T>): Promise<T | null> =>
  within(readTimeoutMs, 'a metric', Promise.resolve().then(read)).catch(() => null);

const publishOperations = new Set(['publish', 'publishByPut', 'publishJson', 'publishJsonByPut']);

const requestsMetric = 'tocsin_http_request_seconds';

async function readTotals(metrics: Registry): Promise<Reading['totals']> {
  const [measured, pushes] = await Promise.all([
    valuesOf(metrics, requestsMetric),
    valuesOf(metrics, 'tocsin_push_outcomes_total'),
  ]);
  const requests = measured?.filter(({ metricName }) => metricName === `${requestsMetric}_count`) ?? [];
  return {
    publishes: sumOf(
      requests,
      ({ labels }) => labels['status'] === '2xx' && publishOperations.has(String(labels['operation'])),
    ),
    serverErrors: sumOf(requests, ({ labels }) => labels['status'] === '5xx'),
    pushes: pushes === null ? null : sumOf(pushes, ({ labels }) => labels['status'] === 'sent'),
  };
}

interface Value {
  readonly value: number;
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number | undefined>>;
}

/** Returns the values of a metric; null if the process does not have the metric. */
async function valuesOf(metrics: Registry, name: string): Promise<readonly Value[] | null> {
  const metric = metrics.getSingleMetric(name);
  if (metric === undefined) return null;
  return ((await metric.get()) as { readonly values: readonly Value[] }).values;
}

const sumOf = (values: readonly Value[], matches: (value: Value) => boolean = () => true): number =>
  values.filter(matches).reduce((sum, { value }) => sum + value, 0);
