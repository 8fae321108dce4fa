import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';

/** `GET /metrics`: the process's figures in the text format of Prometheus. With METRICS_PORT they are there alone. */
export function getMetrics({ metrics }: ApiDeps): Route {
  return route({
    id: 'getMetrics',
    method: 'GET',
    path: '/metrics',
    summary: "The process's figures for Prometheus",
    audience: 'uncounted',
    success: {
      status: 200,
      schema: z.string(),
      contentType: 'text/plain',
      description: 'Figures in the text format of Prometheus',
    },
    handle: async () => ({
      status: 200,
      text: await metrics.metrics(),
      headers: { 'Content-Type': metrics.contentType },
    }),
  });
}
