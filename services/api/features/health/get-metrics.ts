import { z } from 'zod';
import { metricsText } from '@tocsin/shared/runtime/metrics-text.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';

/**
 * `GET /metrics`: the process's metrics in the Prometheus text format. With METRICS_PORT only that port serves them.
 */
export function getMetrics({ metrics }: Pick<ApiDeps, 'metrics'>): Route {
  const render = metricsText(metrics);
  return route({
    id: 'getMetrics',
    method: 'GET',
    path: '/metrics',
    summary: "Get the process's metrics for Prometheus",
    audience: 'uncounted',
    success: {
      status: 200,
      schema: z.string(),
      contentType: 'text/plain',
      description: 'Metrics in the Prometheus text format',
    },
    handle: async () => ({
      status: 200,
      text: await render(),
      headers: { 'Content-Type': metrics.contentType },
    }),
  });
}
