import { Histogram, type Registry } from 'prom-client';
import type { Route } from './route.ts';

/** Told what requests took, streams not among them. */
export type RequestMetrics = (route: Pick<Route, 'id'>, status: number, seconds: number) => void;

/** `tocsin_http_request_seconds` by operation and class of status; no name that a user gave is in it. */
export function requestMetrics(registry: Registry): RequestMetrics {
  const histogram = new Histogram({
    name: 'tocsin_http_request_seconds',
    help: 'Time from the request, its headers read, to its answer: by operation of the interface and class of status',
    labelNames: ['operation', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers: [registry],
  });
  // Found once for each: to find a child by its labels costs more than to observe.
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
