import { Histogram, type Registry } from 'prom-client';

/** Metrics of the fan-out. */
export interface FanOutMetrics {
  /** Seconds from the publish until the message is in history; it is sent to streams afterwards. */
  readonly delay: Pick<Histogram, 'observe'>;
}

export function fanOutMetrics(registry: Registry): FanOutMetrics {
  return {
    delay: new Histogram({
      name: 'tocsin_fanout_delay_seconds',
      help: 'Time from the publish until the message is in history; it is sent to streams afterwards',
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
      registers: [registry],
    }),
  };
}
