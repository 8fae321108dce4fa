import { readinessCheck } from '@tocsin/shared/runtime/health.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';

const state = z.enum(['ok', 'down']);
const readinessSchema = z.object({
  status: state,
  parts: z.object({ log: state, database: state, queue: state, bus: state }),
  unavailable_partitions: z
    .number()
    .int()
    .optional()
    .describe(
      'Partitions of the log that accept no messages at present; the node serves the others. Absent without such partitions',
    ),
});

/**
 * `GET /health/ready`: the components that the node uses; 503 if one of them is down for longer than a failover takes,
 * or the node is shutting down.
 */
export function getReadiness(deps: Pick<ApiDeps, 'engine' | 'leaving'>): Route {
  const check = readinessCheck(deps);
  return route({
    id: 'getReadiness',
    method: 'GET',
    path: '/health/ready',
    summary: 'Check the components that the node uses',
    audience: 'uncounted',
    success: {
      status: 200,
      schema: readinessSchema,
      description: 'All components are up, or one is `down` for less than 15 seconds',
    },
    errors: {
      503: {
        description: 'A component is `down` for longer, or was never up, or the node is shutting down',
        schema: readinessSchema,
      },
    },
    async handle() {
      const readiness = await check();
      return { status: readiness.status === 'ok' ? 200 : 503, body: readiness };
    },
  });
}
