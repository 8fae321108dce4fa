import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AccountCaller, Caller, TopicTokenCaller } from '@tocsin/shared/domain/accounts/caller.ts';
import type { Scope } from '@tocsin/shared/domain/accounts/credentials.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { z } from 'zod';
import type { CredentialSources } from './authenticate.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Whom a route serves.
 * - `anyone`: a credential is judged when one is sent; access is the matter of `load`.
 * - `account`: an account, by login or by an API key with the route's scope.
 * - `login`: an account by login; an API key is refused.
 * - `operator`: ADMIN_TOKEN alone.
 * - `unread`: credentials are not looked at, but the address is counted.
 * - `uncounted`: neither; health, metrics and documents.
 */
export type Audience = 'anyone' | 'account' | 'login' | 'operator' | 'unread' | 'uncounted';

/** What is known of a request once its caller is. */
export interface RequestContext {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The path's parameters, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly searchParams: URLSearchParams;
  readonly caller: Caller;
  readonly address: string;
  readonly now: number;
  /** The calling account. Throws `unauthenticated` for an anonymous caller: call it after what exists was found. */
  account(): AccountCaller;
}

export interface Input<L, Q extends z.ZodType, B extends z.ZodType> {
  readonly loaded: L;
  readonly query: z.output<Q>;
  readonly body: z.output<B>;
}

export interface Reply {
  readonly status: number;
  /** JSON; a string is taken as JSON that is encoded already; absent: no body. */
  readonly body?: unknown;
  /** A body that is no JSON; its `Content-Type` is among the headers. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Success {
  readonly status: number;
  /** Of the JSON; of the text where `contentType` says that it is none. Null: no body, or with a `contentType` one that no schema describes. */
  readonly schema: z.ZodType | null;
  readonly description: string;
  /** `application/json` by default. */
  readonly contentType?: string;
  /** Another form of it, for those who ask by `Accept`. */
  readonly also?: { readonly contentType: string; readonly schema: z.ZodType };
  /** Headers beyond those of every answer: a sentence each. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Input that a route reads without `query` and `body`. */
export interface OwnInput {
  readonly headers?: z.ZodObject;
  readonly query?: z.ZodObject;
  /** Optional where the request says by other means what a body would. */
  readonly body?: {
    readonly contentTypes: readonly string[];
    readonly schema: z.ZodType;
    readonly description?: string;
    readonly isOptional?: boolean;
  };
}

/** One operation of the interface: what mounts it, checks its input and describes it. */
export interface Route<L = unknown, Q extends z.ZodType = z.ZodType, B extends z.ZodType = z.ZodType> {
  /** The OpenAPI operation id. */
  readonly id: string;
  readonly method: Method;
  /** With parameters in braces, as in the interface: `/api/topics/{name}`. */
  readonly path: string;
  readonly summary: string;
  /** What a user should know beyond the summary, in Markdown. */
  readonly description?: string;
  readonly audience: Audience;
  /** What an API key needs for it. */
  readonly scope?: Scope;
  /** On a topic's routes `X-Topic-Token` is the first credential looked at. */
  readonly isTopicRoute?: boolean;
  /** Streams take the credential from the query's `token` too. */
  readonly isStream?: boolean;
  /** Finds the caller where that takes more than the request's credential: streams by a session. Throws as `authenticate` does. */
  readonly findCaller?: (sources: CredentialSources) => Promise<AccountCaller | TopicTokenCaller | null>;
  /** Finds what the request is about (404) and judges access to it (401, 403), before any input is looked at. */
  readonly load?: (context: RequestContext) => Promise<L>;
  readonly query?: Q;
  /** The schema of a JSON body. */
  readonly body?: B;
  /** The route reads its body itself (publishing). */
  readonly readsBody?: boolean;
  /** What the document says of input that the route reads itself. */
  readonly reads?: OwnInput;
  /** What it answers when all is well. */
  readonly success: Success;
  /** Errors that the rest of the route does not tell of (see `openapi/responses.ts`), or that need other words. */
  readonly errors?: Readonly<Record<number, string | { readonly description: string; readonly schema: z.ZodType }>>;
  /** Null: the handler has answered by itself (streams). */
  readonly handle: (context: RequestContext, input: Input<L, Q, B>) => Promise<Reply | null>;
}

/** Lets TypeScript infer a route's types, and forgets them for the table of all routes. */
export function route<L, Q extends z.ZodType, B extends z.ZodType>(definition: Route<L, Q, B>): Route {
  return definition as unknown as Route;
}

/** The account behind the caller. Throws as an account route does: 403 for a topic token, 401 for nobody. */
export function requireAccount(caller: Caller): AccountCaller {
  if (caller.kind === 'account') return caller;
  if (caller.kind === 'topic-token') throw new AppError('forbidden', 'A topic token opens only its topic');
  throw new AppError('unauthenticated', 'Not authenticated');
}
