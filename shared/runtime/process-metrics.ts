import { collectDefaultMetrics, type Gauge, type Registry } from 'prom-client';

/** prom-client's default of 10 ms causes most of the wakeups of an idle process. */
const lagSampledMs = 50;

const lagsWithInterval = ['min', 'max', 'mean', 'p50', 'p90', 'p99'].map((of) => `nodejs_eventloop_lag_${of}_seconds`);

/** The default metrics of prom-client. The lag of the event loop is sampled every 50 ms and excludes this interval. */
export function collectProcessMetrics(register: Registry): void {
  collectDefaultMetrics({ register, eventLoopMonitoringPrecision: lagSampledMs });
  for (const name of lagsWithInterval) {
    const gauge = register.getSingleMetric(name) as Gauge;
    const set = gauge.set.bind(gauge) as (labels: object, value: number) => void;
    gauge.set = (labels: object | number, seconds?: number) =>
      set(labels as object, Math.max(0, seconds! - lagSampledMs / 1_000));
  }
}
