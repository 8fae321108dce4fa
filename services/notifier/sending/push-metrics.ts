import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** What an operator wants to know of pushing. */
export interface PushMetrics {
  /** Results of pushes by platform and what the ledger says: sent, skipped, retrying, dead_token, failed. */
  readonly outcomes: Counter<'platform' | 'status'>;
  /** Pushes that wait because the provider refuses the installation's credentials: the operator's to repair. */
  readonly refusals: Counter<'platform' | 'reason'>;
  /** 1 while a provider takes no pushes: it is away, in trouble, or refuses the installation. */
  readonly away: Gauge<'platform'>;
  /** Seconds from the publish to the provider's acceptance. */
  readonly latency: Histogram<'platform'>;
}

export function pushMetrics(registry: Registry): PushMetrics {
  return {
    outcomes: new Counter({
      name: 'tocsin_push_outcomes_total',
      help: 'Pushes by what became of them',
      labelNames: ['platform', 'status'],
      registers: [registry],
    }),
    refusals: new Counter({
      name: 'tocsin_push_refusals_total',
      help: 'Pushes that wait because their provider refuses the credentials of this installation',
      labelNames: ['platform', 'reason'],
      registers: [registry],
    }),
    away: new Gauge({
      name: 'tocsin_push_provider_away',
      help: '1 while the provider of a platform takes no pushes, and they wait',
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
