import type { z } from 'zod';
import { route, type Route } from '../../http/route.ts';
import { positionHeaders } from './given-position.ts';
import type { StreamKind, StreamRouteNames } from './stream-kind.ts';

/** The path of a WebSocket. Requests without an upgrade get 426; `upgrade.ts` serves upgrades. */
export function websocketRoute<L, Q extends z.ZodObject>(kind: StreamKind<L, Q>, names: StreamRouteNames): Route {
  const { load: _load, query, ...admitted } = kind.route;
  return route({
    ...admitted,
    ...names,
    method: 'GET',
    reads: { query, headers: positionHeaders },
    success: { status: 101, schema: null, description: 'The connection becomes a WebSocket' },
    errors: { ...kind.errors, 426: 'The request has no upgrade.' },
    handle: ({ response }) =>
      Promise.resolve({
        status: 426,
        body: { detail: 'Connect with a WebSocket client' },
        // An explicit Connection header replaces Node's, which closes the connection if the client asks for it.
        headers: { Upgrade: 'websocket', Connection: response.shouldKeepAlive ? 'Upgrade' : 'Upgrade, close' },
      }),
  });
}
