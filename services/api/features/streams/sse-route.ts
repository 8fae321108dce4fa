import type { z } from 'zod';
import { route, type Route } from '../../http/route.ts';
import { SseSink, sseHeaders } from '../../live/sse-sink.ts';
import { positionHeaders } from './given-position.ts';
import type { StreamKind, StreamRouteNames } from './stream-kind.ts';

/** A stream as Server-Sent Events. `HEAD` returns the headers of the stream. */
export function sseRoute<L, Q extends z.ZodObject>(kind: StreamKind<L, Q>, names: StreamRouteNames): Route {
  return route({
    ...kind.route,
    ...names,
    method: 'GET',
    reads: { headers: positionHeaders },
    success: {
      status: 200,
      schema: null,
      contentType: 'text/event-stream',
      description:
        'An event stream: ready, message, message_edited, message_deleted, message_acknowledged, message_unacknowledged, ping, and with a filter position',
    },
    ...(kind.errors === undefined ? {} : { errors: kind.errors }),
    async handle(context, input) {
      if (context.request.method === 'HEAD') return { status: 200, headers: sseHeaders };
      await kind.open(context, input, () => new SseSink(context.response));
      return null;
    },
  });
}
