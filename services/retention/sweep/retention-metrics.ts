import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export interface RetentionMetrics {
  readonly removed: Counter<'sweep'>;
  readonly runs: Counter<'sweep' | 'outcome'>;
  readonly seconds: Histogram<'sweep'>;
  readonly removedBytes: Counter;
  readonly restedSeconds: Counter;
  readonly archived: Counter;
  readonly archiveFailures: Counter;
  readonly waiting: Gauge;
  readonly paused: Gauge;
  readonly clockDifference: Gauge;
}

export function retentionMetrics(registry: Registry): RetentionMetrics {
  const registers = [registry];
  return {
    removed: new Counter({
      name: 'tocsin_retention_removed_total',
      help: 'Items that sweeps removed',
      labelNames: ['sweep'],
      registers,
    }),
    runs: new Counter({
      name: 'tocsin_retention_runs_total',
      help: 'Runs of sweeps: done, more (out of time), failed, clock (the clocks differ)',
      labelNames: ['sweep', 'outcome'],
      registers,
    }),
    seconds: new Histogram({
      name: 'tocsin_retention_run_seconds',
      help: 'Duration of sweep runs',
      labelNames: ['sweep'],
      buckets: [0.01, 0.1, 0.5, 1, 5, 10, 30, 60],
      registers,
    }),
    removedBytes: new Counter({
      name: 'tocsin_retention_removed_bytes_total',
      help: 'Bytes of texts and titles of removed expired messages',
      registers,
    }),
    restedSeconds: new Counter({
      name: 'tocsin_retention_rested_seconds_total',
      help: 'Time that removals paused for publishes',
      registers,
    }),
    archived: new Counter({
      name: 'tocsin_archive_messages_total',
      help: 'Messages in objects that the archive confirmed',
      registers,
    }),
    archiveFailures: new Counter({
      name: 'tocsin_archive_failures_total',
      help: 'Runs that ended because the archive failed',
      registers,
    }),
    waiting: new Gauge({
      name: 'tocsin_retention_waiting_messages',
      help: 'Messages of a plan that waits for confirmation',
      registers,
    }),
    paused: new Gauge({
      name: 'tocsin_retention_paused',
      help: '1 while an operator has paused the removal of expired messages',
      registers,
    }),
    clockDifference: new Gauge({
      name: 'tocsin_retention_clock_difference_seconds',
      help: "How far the store's clock is ahead of this process's clock",
      registers,
    }),
  };
}
