import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '@tocsin/shared/domain/accounts/caller.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import { hashSecret } from '@tocsin/shared/platform/secrets.ts';
import type { Tracing } from '@tocsin/shared/runtime/tracing/tracing.ts';
import type { UsageRecorder } from './usage-recorder.ts';
import { anonymous, authenticate, type AuthenticateDeps, type CredentialSources } from './authenticate.ts';
import type { ClientAddress } from './client-address.ts';
import { errorReply } from './error-reply.ts';
import { rateLimitHeaders, requireBudget, type RateLimits } from './rate-limit.ts';
import type { RequestCeiling } from './request-ceiling.ts';
import { parseQuery, queryParametersMax, readQuery, requireCredentialOnce } from './read-query.ts';
import { announcesTooMuch, parseJsonBody, readBody } from './read-body.ts';
import type { RequestMetrics } from './request-metrics.ts';
import { traceRequest } from './trace-request.ts';
import { requireAccount, requireScopes, type Reply, type RequestContext, type Route } from './route.ts';
import { validate } from './validate.ts';

export interface RouteDeps extends AuthenticateDeps {
  readonly rateLimits: RateLimits;
  readonly requestCeiling: RequestCeiling;
  readonly clientAddress: ClientAddress;
  readonly adminToken: string | undefined;
  /** Called for each wrong `adminToken`; never rejects. */
  readonly recordRefusedOperator: (refused: {
    readonly request: IncomingMessage;
    readonly address: string;
  }) => Promise<void>;
  readonly log: Logger;
  readonly requestMetrics: RequestMetrics;
  /** Called for each request with a key or topic token. */
  readonly usage: UsageRecorder;
  readonly tracing: Tracing;
}

type Request = IncomingMessage & { params?: unknown };

/**
 * Handles one request with its route, in a span if tracing is on. Uncounted routes (probes, metrics, documents) have no
 * span.
 */
export function runRoute(deps: RouteDeps, route: Route, request: Request, response: ServerResponse): Promise<void> {
  const isTraced = deps.tracing.isEnabled && route.audience !== 'uncounted';
  return isTraced
    ? traceRequest(deps.tracing, { route, request, response }, () => answer(deps, route, request, response))
    : answer(deps, route, request, response);
}

/**
 * Handles one request with its route. The checks run in this order: address limit, credential, scope, existence,
 * access, body and parameters, then the route's own rules. Every failure becomes a JSON error; never throws.
 */
async function answer(deps: RouteDeps, route: Route, request: Request, response: ServerResponse): Promise<void> {
  const began = performance.now();
  try {
    const context = await admit(deps, route, request, response);
    const loaded = route.load === undefined ? undefined : await route.load(context);
    if (route.audience === 'account' || route.audience === 'login') context.account();
    const body = await readInput(route, request);
    requireCredentialOnce(context.searchParams, route);
    const query = route.query === undefined ? undefined : readQuery(route.query, context);
    const reply = await route.handle(context, { loaded, query, body });
    if (reply === null) return; // a stream, which lasts until the client disconnects
    send(response, reply);
  } catch (error) {
    sendError(deps.log, response, error);
  }
  deps.requestMetrics(route, response.statusCode, (performance.now() - began) / 1_000);
}

/** Determines the caller and counts the request: all checks before those of the route. */
export async function admit(
  deps: RouteDeps,
  route: Admitted,
  request: Request,
  response: ServerResponse,
): Promise<RequestContext> {
  const now = deps.clock();
  const address = deps.clientAddress(request);
  const query = parseQuery(request.url!);
  const searchParams = query ?? new URLSearchParams();
  const caller = await findCaller({ deps, route, request, response, address, searchParams, now });
  if (query === null) throw new AppError('invalid', `The query must have at most ${queryParametersMax} parameters`);
  requireScope(route, caller);
  return {
    request,
    response,
    caller,
    address,
    now,
    searchParams,
    params: (request.params ?? {}) as Record<string, string>,
    account: () => requireAccount(caller),
  };
}

/** The parts of a route that determine which callers are admitted. */
export type Admitted = Pick<Route, 'audience' | 'scope' | 'isTopicRoute' | 'isStream' | 'findCaller'>;

interface Admission {
  readonly deps: RouteDeps;
  readonly route: Admitted;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly address: string;
  readonly searchParams: URLSearchParams;
  readonly now: number;
}

async function findCaller(admission: Admission): Promise<Caller> {
  const { deps, route, request, response, address, now } = admission;
  if (route.audience === 'uncounted') return anonymous(address);
  if (route.audience === 'operator') {
    await requireOperator(admission);
    return anonymous(address);
  }
  let failure: unknown;
  const find = route.findCaller ?? ((sources: CredentialSources) => authenticate(deps, sources));
  const caller =
    route.audience === 'unread'
      ? null
      : await find({
          headers: request.headers,
          query: admission.searchParams,
          isTopicRoute: route.isTopicRoute === true,
          isStream: route.isStream === true,
        }).catch((error: unknown) => {
          if (!(error instanceof AppError) || error.code !== 'unauthenticated') throw error;
          failure = error;
          return null;
        });
  if (caller === null) {
    await countRequest(admission);
    if (failure !== undefined) throw failure;
    return anonymous(address);
  }
  deps.requestCeiling(caller, now);
  if (caller.kind === 'topic-token') deps.usage.topicTokenUsed(caller.credentialId, now);
  else if (caller.scopes !== null) deps.usage.apiKeyUsed(caller.credentialId, now);
  const budget = await deps.rateLimits.peekPublish(caller, now);
  if (budget !== null) setHeaders(response, rateLimitHeaders(budget));
  return caller;
}

/** Counts a request without a valid credential against its address. */
async function countRequest({ deps, response, address, now }: Admission): Promise<void> {
  const budget = await deps.rateLimits.takeRequest(address, now);
  if (budget === null) return;
  setHeaders(response, rateLimitHeaders(budget));
  requireBudget(budget, now);
}

async function requireOperator(admission: Admission): Promise<void> {
  const { deps, request } = admission;
  if (deps.adminToken === undefined) {
    await countRequest(admission);
    throw new AppError('not_found', 'Not found');
  }
  const sent = /^bearer +(.+)$/i.exec(request.headers.authorization ?? '')?.[1];
  const isRight =
    sent !== undefined && timingSafeEqual(Buffer.from(hashSecret(sent)), Buffer.from(hashSecret(deps.adminToken)));
  if (isRight) return;
  await countRequest(admission);
  if (sent !== undefined) await deps.recordRefusedOperator(admission);
  throw new AppError('unauthenticated', sent === undefined ? 'Not authenticated' : 'Could not validate credentials');
}

function requireScope(route: Pick<Route, 'audience' | 'scope'>, caller: Caller): void {
  const needsAccount = route.audience === 'account' || route.audience === 'login';
  if (needsAccount && caller.kind === 'topic-token') requireAccount(caller);
  if (caller.kind !== 'account' || caller.scopes === null) return;
  if (route.audience === 'login') throw new AppError('forbidden', 'Requires a login');
  if (route.scope !== undefined) requireScopes(caller, [route.scope]);
}

async function readInput(route: Route, request: IncomingMessage): Promise<unknown> {
  if (route.body === undefined) return undefined;
  const bytes = await readBody(request);
  return validate(route.body, parseJsonBody(bytes, request.headers['content-type']));
}

function setHeaders(response: ServerResponse, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
}

const longTextChars = 16_384;

/** Writes a JSON response. */
export function send(response: ServerResponse, reply: Reply): void {
  if (reply.headers !== undefined) setHeaders(response, reply.headers);
  response.statusCode = reply.status;
  const text = reply.text ?? textOf(reply.body);
  if (text === undefined) {
    response.end();
    return;
  }
  if (reply.text === undefined) response.setHeader('Content-Type', 'application/json');
  // Encode long texts once here: Node would use three times the memory and join them with the headers.
  const body = text.length > longTextChars ? Buffer.from(text) : text;
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.end(body);
}

function textOf(body: unknown): string | undefined {
  return body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
}

/** Writes the JSON error and logs unexpected ones with their cause. */
export function sendError(log: Logger, response: ServerResponse, error: unknown): void {
  const reply = errorReply(error);
  if (reply.status === 500)
    log.error({ err: error, requestId: response.getHeader('X-Request-Id') }, 'request failed because of a bug');
  if (response.headersSent) {
    response.destroy();
    return;
  }
  // A body that is too large stays unread, so the connection cannot be reused.
  if (reply.status === 413 || announcesTooMuch(response.req)) response.setHeader('Connection', 'close');
  send(response, reply);
}
