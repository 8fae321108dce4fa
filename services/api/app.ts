import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import cors from 'cors';
import express, { type Express, type NextFunction, type Request, type Response, type Router } from 'express';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import { randomId } from '@tocsin/shared/platform/ids.ts';
import type { ApiDeps } from './api-deps.ts';
import type { Route } from './http/route.ts';
import { admit, runRoute, sendError } from './http/run-route.ts';
import { routes } from './routes.ts';

/** Headers of ours that a browser's script may read. */
const exposedHeaders = [
  'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'X-Request-Id', 'X-Total-Count', 'X-Page', 'X-Per-Page',
  'Retry-After', 'Idempotency-Replayed',
];

/**
 * The HTTP application. Order: headers that every answer carries, CORS, the routes (fixed paths before those with
 * parameters), and what is left: a known path with another method is a 405, anything else a 404.
 */
export function app(deps: ApiDeps): RequestListener {
  const table = routes(deps);
  const application = expressApplication(deps, table);
  const publishRoute = publishRouteFinder(table);
  return (request, response) => {
    const found = publishRoute(request);
    if (found === undefined) {
      application(request, response);
      return;
    }
    setCommonHeaders(request, response);
    void runRoute(deps, found.route, Object.assign(request, { params: { topic: found.topic } }), response);
  };
}

/** A path of one segment without an escape, as nearly every publish has, and perhaps a query. */
const plainSegment = /^\/([\w-]+)(?:\?|$)/;

/**
 * Finds the route of a publish to a topic without Express, whose matching takes as long as the rest of the request. What is
 * unusual (another method, an escape in the path, a browser's Origin) is undefined, and goes the common way.
 */
function publishRouteFinder(table: readonly Route[]): (request: IncomingMessage) => { route: Route; topic: string } | undefined {
  const byMethod = new Map<string | undefined, Route>(table.filter(({ path }) => path === '/{topic}').map((route) => [route.method, route]));
  const fixed = new Set(table.map(({ path }) => path.split('/')[1]!));
  return (request) => {
    const route = byMethod.get(request.method);
    if (route === undefined || request.headers.origin !== undefined) return undefined;
    const topic = plainSegment.exec(request.url!)?.[1];
    return topic === undefined || fixed.has(topic) ? undefined : { route, topic };
  };
}

function expressApplication(deps: ApiDeps, table: readonly Route[]): Express {
  const application = express();
  application.disable('x-powered-by');
  application.disable('etag');
  application.set('case sensitive routing', true);
  application.set('query parser', false);
  application.use(commonHeaders);
  const crossOrigin = cors({ origin: allowedOrigins(deps), exposedHeaders, maxAge: 600 });
  // Only browsers send an Origin; nothing is cacheable, so answers without one need no `Vary`.
  application.use((request, response, next) => (request.headers.origin === undefined ? next() : crossOrigin(request, response, next)));
  mount(deps, application, table);
  application.use((request: Request, response: Response) => notFound(deps, request, response));
  application.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    const isBadPath = error instanceof URIError || (error as { status?: number }).status === 400;
    sendError(deps.log, response, isBadPath ? new AppError('invalid', 'The path is not valid percent-encoding', { cause: error }) : error);
  });
  return application;
}

function allowedOrigins(deps: ApiDeps): string[] | string {
  const origins = deps.config.CORS_ORIGINS ?? [new URL(deps.appUrl).origin];
  return origins.includes('*') ? '*' : origins;
}

const requestIdForm = /^[\x21-\x7e]{1,128}$/;

function commonHeaders(request: Request, response: Response, next: NextFunction): void {
  setCommonHeaders(request, response);
  next();
}

/** What every answer carries, whatever it is. */
function setCommonHeaders(request: IncomingMessage, response: ServerResponse): void {
  const sent = request.headers['x-request-id'];
  response.setHeader('X-Request-Id', typeof sent === 'string' && requestIdForm.test(sent) ? sent : randomId());
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Cache-Control', 'no-store');
}

/**
 * Mounts the routes: fixed paths before paths with parameters. Those below one fixed first segment (`/api`, `/auth`) get a
 * router of their own, so that a publish to `/{topic}` is not matched against all of them.
 */
function mount(deps: ApiDeps, application: Express, table: readonly Route[]): void {
  const below = new Map<string, Router>();
  for (const sameShape of byShape(table)) {
    const [, first = '', ...rest] = expressPath(sameShape[0]!.path).split('/');
    if (rest.length === 0 || first.startsWith(':')) continue;
    const router = below.get(first) ?? express.Router({ caseSensitive: true });
    if (!below.has(first)) application.use(`/${first}`, router);
    below.set(first, router);
    mountShape(deps, router, sameShape, first);
  }
  for (const sameShape of byShape(table)) {
    const [, first = '', ...rest] = expressPath(sameShape[0]!.path).split('/');
    if (rest.length === 0 || first.startsWith(':')) mountShape(deps, application, sameShape, '');
  }
}

/** Routes of one path shape together, so that a method that none of them has is a 405 that names the others'. */
function byShape(table: readonly Route[]): Route[][] {
  const shapes = new Map<string, Route[]>();
  for (const route of [...table].sort((a, b) => (specificity(a.path) < specificity(b.path) ? 1 : -1))) {
    const shape = expressPath(route.path).replaceAll(/:\w+/g, ':');
    shapes.set(shape, [...(shapes.get(shape) ?? []), route]);
  }
  return [...shapes.values()];
}

function mountShape(deps: ApiDeps, router: Router, sameShape: readonly Route[], below: string): void {
  const pathOf = (route: Route) => expressPath(route.path).slice(below === '' ? 0 : below.length + 1);
  for (const route of sameShape) {
    const method = route.method.toLowerCase() as 'get' | 'post' | 'put' | 'patch' | 'delete';
    router[method](pathOf(route), (request, response) => runRoute(deps, route, request, response));
  }
  const allow = [...new Set(sameShape.flatMap((route) => (route.method === 'GET' ? ['GET', 'HEAD'] : [route.method])))].sort().join(', ');
  router.all(pathOf(sameShape[0]!), (request: Request, response: Response) => methodNotAllowed(deps, request, response, allow));
}

const expressPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

/** Sorts a fixed segment before a parameter at the same place. */
const specificity = (path: string): string => path.split('/').map((segment) => (segment.startsWith('{') ? '0' : `1${segment}`)).join('/');

async function methodNotAllowed(deps: ApiDeps, request: Request, response: Response, allow: string): Promise<void> {
  try {
    await admit(deps, { audience: 'unread' }, request, response);
    response.setHeader('Allow', allow);
    response.statusCode = 405;
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ detail: `Method not allowed: use ${allow}` }));
  } catch (error) {
    sendError(deps.log, response, error);
  }
}

async function notFound(deps: ApiDeps, request: Request, response: Response): Promise<void> {
  try {
    await admit(deps, { audience: 'unread' }, request, response);
    throw new AppError('not_found', 'Not found');
  } catch (error) {
    sendError(deps.log, response, error);
  }
}
