import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import cors from 'cors';
import express, { type Express, type NextFunction, type Request, type Response, type Router } from 'express';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import { topicNameFault } from '@tocsin/shared/domain/topics/topic.ts';
import type { ApiDeps } from './api-deps.ts';
import { audienceAt } from './http/audience-at.ts';
import { setCommonHeaders } from './http/common-headers.ts';
import { allowedOrigins } from './http/allowed-origins.ts';
import type { Audience, Route } from './http/route.ts';
import { admit, runRoute, send, sendError } from './http/run-route.ts';
import { pages } from './pages.ts';
import { routes } from './routes.ts';

/** Headers that browser scripts may read. */
const exposedHeaders = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
  'X-Total-Count',
  'X-Page',
  'X-Per-Page',
  'Retry-After',
  'Idempotency-Replayed',
  'X-Ignored',
];

/**
 * The HTTP application. Order: common headers, CORS, the routes (fixed paths before those with
 * parameters), then 405 for a known path with another method and 404 for anything else.
 */
export function app(deps: ApiDeps): RequestListener {
  const table = [...routes(deps), ...pages(deps)];
  const application = expressApplication(deps, table);
  const publishRoute = publishRouteFinder(table);
  return (request, response) => {
    const fault = hostFault(request);
    if (fault !== undefined) {
      setCommonHeaders(deps, request, response);
      void refuse(deps, { request, response, error: new AppError('invalid', fault) });
      return;
    }
    const found = publishRoute(request);
    if (found === undefined) {
      application(request, response);
      return;
    }
    setCommonHeaders(deps, request, response);
    void runRoute(deps, found.route, Object.assign(request, { params: { topic: found.topic } }), response);
  };
}

/** A path of one segment without escapes, with an optional query, as in nearly every publish. */
const plainSegment = /^\/([\w-]+)(?:\?|$)/;

/**
 * Finds the route of a publish to a topic without Express, whose matching takes as long as the rest of the request.
 * Undefined for unusual requests (other method, escape in the path, Origin), which use Express.
 */
function publishRouteFinder(
  table: readonly Route[],
): (request: IncomingMessage) => { route: Route; topic: string } | undefined {
  const byMethod = new Map<string | undefined, Route>(
    table.filter(({ path }) => path === '/{topic}').map((route) => [route.method, route]),
  );
  const fixed = fixedSegments(table);
  return (request) => {
    const route = byMethod.get(request.method);
    if (route === undefined || request.headers.origin !== undefined) return undefined;
    const topic = plainSegment.exec(request.url!)?.[1];
    return topic === undefined || fixed.has(topic) ? undefined : { route, topic };
  };
}

/** The first segments of all paths, which are no topics. */
const fixedSegments = (table: readonly Route[]): ReadonlySet<string> =>
  new Set(table.map(({ path }) => path.split('/')[1]!));

function expressApplication(deps: ApiDeps, table: readonly Route[]): Express {
  const application = express();
  application.disable('x-powered-by');
  application.disable('etag');
  application.set('case sensitive routing', true);
  application.set('strict routing', true);
  application.set('query parser', false);
  application.use((request, response, next) => {
    setCommonHeaders(deps, request, response);
    next();
  });
  const crossOrigin = cors({ origin: corsOrigins(deps), exposedHeaders, maxAge: 600 });
  // Only browsers send an Origin; responses are not cacheable, so without an Origin they need no `Vary`.
  application.use((request, response, next) =>
    request.headers.origin === undefined ? next() : crossOrigin(request, response, next),
  );
  application.get(['/:topic', '/:topic/'], showTopic);
  mount(deps, application, table);
  application.use((request: Request, response: Response) =>
    refuse(deps, { request, response, error: new AppError('not_found', 'Not found') }),
  );
  application.use((cause: unknown, request: Request, response: Response, _next: NextFunction) => {
    const isBadPath = cause instanceof URIError || (cause as { status?: number }).status === 400;
    if (!isBadPath) return sendError(deps.log, response, cause);
    return refuse(deps, {
      request,
      response,
      error: new AppError('invalid', 'The path is not valid percent-encoding', { cause }),
    });
  });
  return application;
}

/** Redirects a browser from a topic's URL (`/{topic}`) to the topic's page. */
function showTopic(request: Request, response: Response, next: NextFunction): void {
  const topic = String(request.params['topic']);
  const isBrowser = request.accepts(['json', 'html']) === 'html';
  if (!isBrowser || topicNameFault(topic) !== null) return next();
  response.setHeader('Vary', 'Accept');
  send(response, { status: 303, headers: { Location: `/console/topics/${topic}` } });
}

function corsOrigins(deps: ApiDeps): string[] | string {
  const origins = allowedOrigins(deps);
  return origins.has('*') ? '*' : [...origins];
}

/** RFC 9112 §3.2; HTTP/1.0 has no Host. Node keeps only the first of several. */
function hostFault({ headers, rawHeaders, httpVersion }: IncomingMessage): string | undefined {
  if (headers.host === undefined) return httpVersion === '1.1' ? 'The request has no Host header' : undefined;
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1 ? 'The request has more than one Host header' : undefined;
}

/**
 * Mounts the routes: fixed paths before paths with parameters. Routes below a fixed first segment (`/api`, `/auth`) get
 * their own router, so that a publish to `/{topic}` is not matched against all of them.
 */
function mount(deps: ApiDeps, application: Express, table: readonly Route[]): void {
  const below = new Map<string, Router>();
  for (const sameShape of byShape(table)) {
    const [, first = '', ...rest] = expressPath(sameShape[0]!.path).split('/');
    if (rest.length === 0 || first.startsWith(':')) continue;
    const router = below.get(first) ?? express.Router({ caseSensitive: true, strict: true });
    if (!below.has(first)) application.use(`/${first}`, router);
    below.set(first, router);
    mountShape(deps, router, sameShape, first);
  }
  const fixed = fixedSegments(table);
  for (const sameShape of byShape(table)) {
    const { path } = sameShape[0]!;
    const [, first = '', ...rest] = expressPath(path).split('/');
    if (rest.length > 0 && !first.startsWith(':')) continue;
    if (path !== anyTwoSegments) {
      mountShape(deps, application, sameShape, '');
      continue;
    }
    const router = express.Router({ caseSensitive: true, strict: true });
    mountShape(deps, router, sameShape, '');
    application.use((request, response, next) =>
      fixed.has(request.path.split('/')[1]!.toLowerCase()) ? next() : router(request, response, next),
    );
  }
}

/** Must not match unknown paths below a fixed segment, in whatever case. */
const anyTwoSegments = '/{topic}/{sequence_id}';

/** The only paths that also exist with a slash at the end: a proxy that blocks a path need not think of variants. */
const slashAllowed = new Set(['/{topic}', '/console']);

/** Groups routes by path shape, so that an unsupported method returns 405 with the supported ones. */
function byShape(table: readonly Route[]): Route[][] {
  const shapes = new Map<string, Route[]>();
  for (const route of [...table].sort((a, b) => (specificity(a.path) < specificity(b.path) ? 1 : -1))) {
    const shape = expressPath(route.path).replaceAll(/:\w+/g, ':');
    shapes.set(shape, [...(shapes.get(shape) ?? []), route]);
  }
  return [...shapes.values()];
}

function mountShape(deps: ApiDeps, router: Router, sameShape: readonly Route[], below: string): void {
  const pathOf = (route: Route) => {
    const path = expressPath(route.path).slice(below === '' ? 0 : below.length + 1);
    return slashAllowed.has(route.path) ? [path, `${path}/`] : path;
  };
  for (const route of sameShape) {
    const method = route.method.toLowerCase() as 'get' | 'post' | 'put' | 'patch' | 'delete';
    router[method](pathOf(route), (request, response) => runRoute(deps, route, request, response));
  }
  const allow = [...new Set(sameShape.flatMap((route) => (route.method === 'GET' ? ['GET', 'HEAD'] : [route.method])))]
    .sort()
    .join(', ');
  const { audience } = sameShape[0]!;
  const error = new AppError('method_not_allowed', `Method not allowed: use ${allow}`);
  router.all(pathOf(sameShape[0]!), (request: Request, response: Response) =>
    refuse(deps, {
      request,
      response,
      error,
      allow,
      audience: audience === 'account' || audience === 'login' ? 'anyone' : audience,
    }),
  );
}

const expressPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

/** Sorts a fixed segment before a parameter at the same place. */
const specificity = (path: string): string =>
  path
    .split('/')
    .map((segment) => (segment.startsWith('{') ? '0' : `1${segment}`))
    .join('/');

interface Refusal {
  readonly request: IncomingMessage & { readonly originalUrl?: string };
  readonly response: ServerResponse;
  readonly error: AppError;
  /** The audience of this path; by default that of its neighbours. */
  readonly audience?: Audience;
  /** The methods that the path has. */
  readonly allow?: string;
}

/** Responds to requests without a route, after the usual checks of credential and rate limit. */
async function refuse(deps: ApiDeps, { request, response, error, audience, allow }: Refusal): Promise<void> {
  try {
    await admit(deps, { audience: audience ?? audienceAt(request.originalUrl ?? request.url!) }, request, response);
    if (allow !== undefined) response.setHeader('Allow', allow);
    throw error;
  } catch (refusal) {
    sendError(deps.log, response, refusal);
  }
}
