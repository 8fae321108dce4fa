import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Metrics of pushes. */
export interface PushMetrics {
  /** Pushes by platform and ledger status: sent, skipped, retrying, dead_token, failed. */
  readonly outcomes: Counter<'platform' | 'status'>;
  /** Pushes and receipts for which the provider rejects the installation's credentials. */
  readonly refusals: Counter<'platform' | 'reason'>;
  /** 1 while a provider accepts no pushes: it is down, has errors, or rejects the installation. */
  readonly away: Gauge<'platform'>;
  /** Seconds from the publish to the acceptance by the provider. */
  readonly latency: Histogram<'platform'>;
}

export function pushMetrics(registry: Registry): PushMetrics {
  return {
    outcomes: new Counter({
      name: 'tocsin_push_outcomes_total',
      help: 'Pushes by result',
      labelNames: ['platform', 'status'],
      registers: [registry],
    }),
    refusals: new Counter({
      name: 'tocsin_push_refusals_total',
      help: 'Pushes and receipts for which the provider rejects the credentials of this installation',
      labelNames: ['platform', 'reason'],
      registers: [registry],
    }),
    away: new Gauge({
      name: 'tocsin_push_provider_away',
      help: '1 while the provider of a platform accepts no pushes',
      labelNames: ['platform'],
      registers: [registry],
    }),
    latency: new Histogram({
      name: 'tocsin_push_latency_seconds',
      help: 'Time from the publish to the acceptance by the push provider',
      labelNames: ['platform'],
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600],
      registers: [registry],
    }),
  };
}
