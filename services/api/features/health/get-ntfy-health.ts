import { z } from 'zod';
import { route, type Route } from '../../http/route.ts';

/** `GET /v1/health`: the health check of ntfy's clients. */
export function getNtfyHealth(): Route {
  return route({
    id: 'getNtfyHealth',
    method: 'GET',
    path: '/v1/health',
    summary: "Check that the server responds, for ntfy's clients",
    audience: 'uncounted',
    success: { status: 200, schema: z.object({ healthy: z.literal(true) }), description: 'It does' },
    handle: () => Promise.resolve({ status: 200, body: { healthy: true } }),
  });
}
