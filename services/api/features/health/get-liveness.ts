import { z } from 'zod';
import { route, type Route } from '../../http/route.ts';

/** `GET /health/live`: the process responds. */
export function getLiveness(): Route {
  return route({
    id: 'getLiveness',
    method: 'GET',
    path: '/health/live',
    summary: 'Check that the process responds',
    audience: 'uncounted',
    success: { status: 200, schema: z.object({ status: z.literal('ok') }), description: 'It does' },
    handle: () => Promise.resolve({ status: 200, body: { status: 'ok' } }),
  });
}
