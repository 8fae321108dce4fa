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
    success: { status: 101, schema: null, description: 'The connection is a WebSocket now' },
    errors: { 426: 'The request asks for no upgrade.' },
    handle: () => Promise.resolve({ status: 426, body: { detail: 'Connect with a WebSocket client' }, headers: { Upgrade: 'websocket', Connection: 'Upgrade' } }),
  });
}
