import { z } from 'zod';
import { route, type Route } from '../../http/route.ts';

/** `GET /v1/health`: what ntfy's clients ask before they use a server. */
export function getNtfyHealth(): Route {
  return route({
    id: 'getNtfyHealth',
    method: 'GET',
    path: '/v1/health',
    summary: "Whether the server answers, for ntfy's clients",
    audience: 'uncounted',
    success: { status: 200, schema: z.object({ healthy: z.literal(true) }), description: 'It does' },
    handle: () => Promise.resolve({ status: 200, body: { healthy: true } }),
  });
}
