import type { z } from 'zod';
import type { CredentialSources } from '../../http/authenticate.ts';
import type { RequestContext, Route } from '../../http/route.ts';
import type { StreamSink } from '../../live/stream-sink.ts';

/** A stream as both of its transports open it. */
export interface StreamKind<L, Q extends z.ZodObject> {
  /** What admits a request for it, and checks its parameters. */
  readonly route: Pick<Route<L, Q>, 'audience' | 'scope' | 'isTopicRoute' | 'isStream' | 'findCaller'> &
    Required<Pick<Route<L, Q>, 'load' | 'query'>>;
  /** What the document says of its refusals beyond those of all routes. */
  readonly errors?: NonNullable<Route['errors']>;
  /** Opens it; throws what refuses it before anything is sent. `openSink` is called when nothing can refuse it any more. */
  readonly open: (
    context: RequestContext,
    input: { loaded: L; query: z.output<Q> },
    openSink: () => StreamSink,
  ) => Promise<void>;
}

/** What the two transports of a stream are called. */
export interface StreamRouteNames {
  readonly id: string;
  readonly path: string;
  readonly summary: string;
}

/** Where a stream's credential can stand. */
export function credentialSources(
  { request, searchParams }: RequestContext,
  { isTopicRoute }: { isTopicRoute: boolean },
): CredentialSources {
  return { headers: request.headers, query: searchParams, isTopicRoute, isStream: true };
}
