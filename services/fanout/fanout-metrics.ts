import { Histogram, type Registry } from 'prom-client';

/** What an operator wants to know of the fan-out. */
export interface FanOutMetrics {
  /** Seconds from the publish until the message could be read in history; it goes to the streams after that. */
  readonly delay: Pick<Histogram, 'observe'>;
}

export function fanOutMetrics(registry: Registry): FanOutMetrics {
  return {
    delay: new Histogram({
      name: 'tocsin_fanout_delay_seconds',
      help: 'Time from the publish until the message can be read in history; it goes to the streams after that',
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
      registers: [registry],
    }),
  };
}
