import { z } from 'zod';
import { route, type Route } from '../../http/route.ts';

/** `GET /health/live`: the process answers. */
export function getLiveness(): Route {
  return route({
    id: 'getLiveness',
    method: 'GET',
    path: '/health/live',
    summary: 'Whether the process answers',
    audience: 'uncounted',
    success: { status: 200, schema: z.object({ status: z.literal('ok') }), description: 'It does' },
    handle: () => Promise.resolve({ status: 200, body: { status: 'ok' } }),
  });
}
