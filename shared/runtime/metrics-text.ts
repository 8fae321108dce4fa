import type { Registry } from 'prom-client';

const rendersMax = 10;
const windowMs = 1_000;

/**
 * Returns a function that renders the metrics in the Prometheus text format, at most ten times per second: further
 * requests get the last text, so that a flood of them costs little.
 */
export function metricsText(registry: Registry): () => Promise<string> {
  let last: Promise<string> | undefined;
  let window = { endsAt: -Infinity, renders: 0 };
  return () => {
    const now = performance.now();
    if (now >= window.endsAt) window = { endsAt: now + windowMs, renders: 0 };
    if (last === undefined || window.renders < rendersMax) {
      window.renders += 1;
      last = registry.metrics();
      last.catch(() => (last = undefined));
    }
    return last;
  };
}
