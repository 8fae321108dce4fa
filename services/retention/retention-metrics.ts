import { Counter, Histogram, type Registry } from 'prom-client';

export interface RetentionMetrics {
  readonly removed: Counter<'sweep'>;
  readonly runs: Counter<'sweep' | 'outcome'>;
  readonly seconds: Histogram<'sweep'>;
}

export function retentionMetrics(registry: Registry): RetentionMetrics {
  const registers = [registry];
  return {
    removed: new Counter({ name: 'tocsin_retention_removed_total', help: 'Things that sweeps removed', labelNames: ['sweep'], registers }),
    runs: new Counter({ name: 'tocsin_retention_runs_total', help: 'Runs of sweeps: done, more (out of time), failed', labelNames: ['sweep', 'outcome'], registers }),
    seconds: new Histogram({
      name: 'tocsin_retention_run_seconds', help: 'How long sweeps ran', labelNames: ['sweep'], buckets: [0.01, 0.1, 0.5, 1, 5, 10, 30, 60], registers,
    }),
  };
}
