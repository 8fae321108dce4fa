import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AccountCaller, Caller, TopicTokenCaller } from '@tocsin/shared/domain/accounts/caller.ts';
import { hasScope, type Scope } from '@tocsin/shared/domain/accounts/credentials.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { z } from 'zod';
import type { CredentialSources } from './authenticate.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * The callers that a route accepts.
 * - `anyone`: checks a credential if one is sent; `load` checks access.
 * - `account`: an account, with a login or an API key with the route's scope.
 * - `login`: an account with a login; API keys are refused.
 * - `operator`: only ADMIN_TOKEN.
 * - `unread`: ignores credentials but counts the address.
 * - `uncounted`: neither, for health, metrics and documents.
 */
export type Audience = 'anyone' | 'account' | 'login' | 'operator' | 'unread' | 'uncounted';

/** The context of a request after authentication. */
export interface RequestContext {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The path's parameters, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly searchParams: URLSearchParams;
  readonly caller: Caller;
  readonly address: string;
  readonly now: number;
  /**
   * Returns the caller's account. Throws `unauthenticated` for an anonymous caller: call it after the existence check.
   */
  account(): AccountCaller;
}

export interface Input<L, Q extends z.ZodType, B extends z.ZodType> {
  readonly loaded: L;
  readonly query: z.output<Q>;
  readonly body: z.output<B>;
}

export interface Reply {
  readonly status: number;
  /** JSON; a string is already encoded JSON; absent means no body. */
  readonly body?: unknown;
  /** A body that is not JSON; its `Content-Type` is among the headers. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Success {
  readonly status: number;
  /**
   * The schema of the JSON, or of the text with another `contentType`. Null: no body, or with `contentType` a body
   * without schema.
   */
  readonly schema: z.ZodType | null;
  readonly description: string;
  /** `application/json` by default. */
  readonly contentType?: string;
  /** Another representation, selected by `Accept`. */
  readonly also?: { readonly contentType: string; readonly schema: z.ZodType };
  /** Additional headers with their descriptions. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Input that a route reads outside of `query` and `body`. */
export interface OwnInput {
  readonly headers?: z.ZodObject;
  readonly query?: z.ZodObject;
  /** Optional if other parts of the request can replace the body. */
  readonly body?: {
    readonly contentTypes: readonly string[];
    readonly schema: z.ZodType;
    readonly description?: string;
    readonly isOptional?: boolean;
  };
}

/** One operation of the interface: its mounting, input validation and description. */
export interface Route<L = unknown, Q extends z.ZodType = z.ZodType, B extends z.ZodType = z.ZodType> {
  /** The OpenAPI operation id. */
  readonly id: string;
  readonly method: Method;
  /** With parameters in braces, as in the interface: `/api/topics/{name}`. */
  readonly path: string;
  readonly summary: string;
  /** Additional description in Markdown. */
  readonly description?: string;
  readonly audience: Audience;
  /** The scope that an API key needs. */
  readonly scope?: Scope;
  /** On a topic's routes `X-Topic-Token` takes precedence over other credentials. */
  readonly isTopicRoute?: boolean;
  /** Streams also read the credential from the query parameter `token`. */
  readonly isStream?: boolean;
  /**
   * Determines the caller if that needs more than the request's credential, as for streams by a session. Throws like
   * `authenticate`.
   */
  readonly findCaller?: (sources: CredentialSources) => Promise<AccountCaller | TopicTokenCaller | null>;
  /** Loads the object of the request (404) and checks access (401, 403) before any input is validated. */
  readonly load?: (context: RequestContext) => Promise<L>;
  readonly query?: Q;
  /** The schema of a JSON body. */
  readonly body?: B;
  /** The route reads its body itself (publishing). */
  readonly readsBody?: boolean;
  /** The documentation of input that the route reads itself. */
  readonly reads?: OwnInput;
  /** The success response. */
  readonly success: Success;
  /**
   * Errors that the structure of the route does not imply (see `openapi/responses.ts`), or with specific descriptions.
   */
  readonly errors?: Readonly<Record<number, string | { readonly description: string; readonly schema: z.ZodType }>>;
  /** Null: the handler has already responded (streams). */
  readonly handle: (context: RequestContext, input: Input<L, Q, B>) => Promise<Reply | null>;
}

/** Infers a route's types and erases them for the table of all routes. */
export function route<L, Q extends z.ZodType, B extends z.ZodType>(definition: Route<L, Q, B>): Route {
  return definition as unknown as Route;
}

/** Returns the caller's account. Throws like an account route: 403 for a topic token, 401 for an anonymous caller. */
export function requireAccount(caller: Caller): AccountCaller {
  if (caller.kind === 'account') return caller;
  if (caller.kind === 'topic-token') throw new AppError('forbidden', 'A topic token opens only its topic');
  throw new AppError('unauthenticated', 'Not authenticated');
}

/** Throws 403 for an API key that lacks one of the scopes. */
export function requireScopes({ scopes }: AccountCaller, needed: readonly Scope[]): void {
  if (scopes === null) return;
  const lacking = needed.find((scope) => !hasScope(scopes, scope));
  if (lacking !== undefined) throw new AppError('forbidden', `Missing scope: ${lacking}`);
}
