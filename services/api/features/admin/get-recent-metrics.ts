import { hostname } from 'node:os';
import { toIso } from '@tocsin/shared/domain/to-iso.ts';
import { packageVersion } from '@tocsin/shared/runtime/package-version.ts';
import { sampleIntervalMs } from '@tocsin/shared/runtime/recent-metrics.ts';
import { recentMetricsSchema } from '@tocsin/shared/wire/metrics-sample.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';

/** `GET /admin/metrics/recent` */
export function getRecentMetrics({ recentMetrics, engine }: Pick<ApiDeps, 'recentMetrics' | 'engine'>): Route {
  return route({
    id: 'getRecentMetrics',
    method: 'GET',
    path: '/admin/metrics/recent',
    summary: 'Get the metrics of the last hour',
    description:
      'Sampled every 15 seconds in the memory of the process that responds, since its start. With a load balancer, each request can reach another process.',
    audience: 'operator',
    success: { status: 200, schema: recentMetricsSchema, description: 'The process and its samples' },
    handle: async ({ now }) => ({
      status: 200,
      body: {
        process: {
          version: packageVersion,
          engine: engine.kind,
          host: hostname(),
          pid: process.pid,
          node_version: process.versions.node,
          started_at: toIso(Math.round(now - process.uptime() * 1_000)),
        },
        interval_seconds: sampleIntervalMs / 1_000,
        // Without ADMIN_TOKEN, the route returns 404 before this.
        ...(await recentMetrics!.read()),
      },
    }),
  });
}
