import { Counter, type Registry } from 'prom-client';

/** Counts the requests of sinks by kind and outcome: that of a delivery, or `test`. */
export function sinkRequests(registry: Registry): Counter<'kind' | 'outcome'> {
  return new Counter({
    name: 'tocsin_sink_requests_total',
    help: 'Requests of sinks by result',
    labelNames: ['kind', 'outcome'],
    registers: [registry],
  });
}
