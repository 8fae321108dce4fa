import type { ApiDeps } from '../../api-deps.ts';
import type { z } from 'zod';
import type { CredentialSources } from '../../http/authenticate.ts';
import type { RequestContext, Route } from '../../http/route.ts';
import type { StreamSink } from '../../live/stream-sink.ts';

/** The dependencies of streams. */
export type StreamDeps = Pick<
  ApiDeps,
  | 'accessTokens'
  | 'clock'
  | 'config'
  | 'directory'
  | 'engine'
  | 'feeds'
  | 'history'
  | 'log'
  | 'makeId'
  | 'streamSessions'
  | 'streamBudget'
  | 'streamFilters'
  | 'streams'
>;

/** A kind of stream, common to both transports. */
export interface StreamKind<L, Q extends z.ZodObject> {
  /** Authorizes the request and validates its parameters. */
  readonly route: Pick<Route<L, Q>, 'audience' | 'scope' | 'isTopicRoute' | 'isStream' | 'findCaller'> &
    Required<Pick<Route<L, Q>, 'load' | 'query'>>;
  /** Its error responses in addition to those of all routes. */
  readonly errors?: NonNullable<Route['errors']>;
  /** Opens the stream. Throws before anything is sent; calls `openSink` once no error is possible. */
  readonly open: (
    context: RequestContext,
    input: { loaded: L; query: z.output<Q> },
    openSink: () => StreamSink,
  ) => Promise<void>;
}

/** The names of the two transports. */
export interface StreamRouteNames {
  readonly id: string;
  readonly path: string;
  readonly summary: string;
}

/** The places of a stream's credential. */
export function credentialSources(
  { request, searchParams }: RequestContext,
  { isTopicRoute }: { isTopicRoute: boolean },
): CredentialSources {
  return { headers: request.headers, query: searchParams, isTopicRoute, isStream: true };
}
