import { Histogram, type Registry } from 'prom-client';
import type { Route } from './route.ts';

/** Records the duration of requests other than streams. */
export type RequestMetrics = (route: Pick<Route, 'id'>, status: number, seconds: number) => void;

/** `tocsin_http_request_seconds` by operation and status class, without user-defined names. */
export function requestMetrics(registry: Registry): RequestMetrics {
  const histogram = new Histogram({
    name: 'tocsin_http_request_seconds',
    help: 'Time from the request headers to the response, by operation and status class',
    labelNames: ['operation', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers: [registry],
  });
  // Cached: looking up a child by its labels costs more than observing.
  const children = new Map<string, { observe(seconds: number): void }>();
  return ({ id }, status, seconds) => {
    const key = `${id} ${Math.floor(status / 100)}xx`;
    let child = children.get(key);
    if (child === undefined) {
      child = histogram.labels({ operation: id, status: key.slice(-3) });
      children.set(key, child);
    }
    child.observe(seconds);
  };
}
