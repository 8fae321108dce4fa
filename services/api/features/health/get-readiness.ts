import { checkReadiness } from '@tocsin/shared/runtime/health.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';

const state = z.enum(['ok', 'down']);
const readinessSchema = z.object({
  status: state,
  parts: z.object({ log: state, database: state, queue: state, bus: state }),
});

/** `GET /health/ready`: the parts that the node works with; 503 when one of them is down, and when the node has been told to end. */
export function getReadiness(deps: ApiDeps): Route {
  return route({
    id: 'getReadiness',
    method: 'GET',
    path: '/health/ready',
    summary: 'Whether the parts that the node works with answer',
    audience: 'uncounted',
    success: { status: 200, schema: readinessSchema, description: 'All of them do' },
    errors: {
      503: { description: 'One of them is `down`, or the node has been told to end', schema: readinessSchema },
    },
    async handle() {
      const readiness = await checkReadiness(deps.engine, deps.leaving);
      return { status: readiness.status === 'ok' ? 200 : 503, body: readiness };
    },
  });
}
