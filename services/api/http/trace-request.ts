import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseTraceContext } from '@tocsin/shared/domain/trace-context.ts';
import type { Tracing } from '@tocsin/shared/runtime/tracing/tracing.ts';
import type { Route } from './route.ts';

/**
 * Runs the handler of a request in a span that continues the request's `traceparent`; for a stream until it is open.
 * The span has the route's path, because the request's path contains topic names and its query credentials.
 */
export async function traceRequest(
  tracing: Tracing,
  {
    route,
    request,
    response,
  }: { route: Pick<Route, 'id' | 'path'>; request: IncomingMessage; response: ServerResponse },
  answer: () => Promise<void>,
): Promise<void> {
  const {
    method = '',
    headers: { traceparent, tracestate },
    httpVersion,
  } = request;
  const span = tracing.start({
    name: `${method} ${route.path}`,
    kind: 'server',
    parent: parseTraceContext(traceparent, tracestate) ?? null,
    attributes: {
      'http.request.method': method,
      'http.route': route.path,
      'network.protocol.version': httpVersion,
      'tocsin.operation': route.id,
    },
  });
  await tracing.within(span, answer);
  const { statusCode } = response;
  span.set({ 'http.response.status_code': statusCode });
  span.end(statusCode >= 500 ? String(statusCode) : undefined);
}
