import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { streamRoute } from './stream-topic.ts';

/** `GET /{topic}/ws` without an upgrade: tells the client what to do. */
export function websocketOnly(deps: ApiDeps): Route {
  return route({
    ...streamRoute(deps),
    id: 'streamTopicByWebSocket',
    path: '/{topic}/ws',
    summary: 'Stream a topic over a WebSocket',
    success: { status: 426, schema: z.object({ detail: z.string() }), description: 'Without an upgrade; with one, the connection switches to a WebSocket' },
    handle: () => Promise.resolve({ status: 426, body: { detail: 'Connect with a WebSocket client' }, headers: { Upgrade: 'websocket', Connection: 'Upgrade' } }),
  });
}
