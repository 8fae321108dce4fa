import { checkReadiness } from '@tocsin/shared/health.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';

const state = z.enum(['ok', 'down']);

/** `GET /health/ready`: the parts that the node works with; 503 when one of them is down. */
export function getReadiness(deps: ApiDeps): Route {
  return route({
    id: 'getReadiness',
    method: 'GET',
    path: '/health/ready',
    summary: 'Whether the parts that the node works with answer',
    audience: 'uncounted',
    success: {
      status: 200,
      schema: z.object({ status: state, parts: z.object({ log: state, database: state, queue: state, bus: state }) }),
      description: 'All of them do; with 503 the same shape, one of them `down`',
    },
    async handle() {
      const readiness = await checkReadiness(deps.engine);
      return { status: readiness.status === 'ok' ? 200 : 503, body: readiness };
    },
  });
}
