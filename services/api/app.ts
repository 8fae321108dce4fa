import cors from 'cors';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import { randomId } from '@tocsin/shared/platform/ids.ts';
import type { ApiDeps } from './api-deps.ts';
import type { Route } from './http/route.ts';
import { admit, runRoute, sendError } from './http/run-route.ts';
import { routes } from './routes.ts';

/**
 * The HTTP application. Order: headers that every answer carries, CORS, the routes (fixed paths before those with
 * parameters), and what is left: a known path with another method is a 405, anything else a 404.
 */
export function app(deps: ApiDeps): Express {
  const application = express();
  application.disable('x-powered-by');
  application.disable('etag');
  application.set('case sensitive routing', true);
  application.set('query parser', false);
  application.use(commonHeaders);
  application.use(cors({
    origin: allowedOrigins(deps),
    exposedHeaders: ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'X-Request-Id', 'X-Total-Count', 'X-Page', 'X-Per-Page', 'Retry-After', 'Idempotency-Replayed'],
    maxAge: 600,
  }));
  const table = routes(deps);
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

/** What every answer carries, whatever it is. */
export function commonHeaders(request: Request, response: Response, next: NextFunction): void {
  const sent = request.headers['x-request-id'];
  response.setHeader('X-Request-Id', typeof sent === 'string' && requestIdForm.test(sent) ? sent : randomId());
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Cache-Control', 'no-store');
  next();
}

/** Mounts fixed paths before paths with parameters, longest fixed beginning first. */
function mount(deps: ApiDeps, application: Express, table: readonly Route[]): void {
  const byPath = new Map<string, Route[]>();
  for (const route of [...table].sort((a, b) => (specificity(a.path) < specificity(b.path) ? 1 : -1))) {
    const shape = expressPath(route.path).replaceAll(/:\w+/g, ':');
    byPath.set(shape, [...(byPath.get(shape) ?? []), route]);
  }
  for (const sameShape of byPath.values()) {
    for (const route of sameShape) {
      const method = route.method.toLowerCase() as 'get' | 'post' | 'put' | 'patch' | 'delete';
      application[method](expressPath(route.path), (request, response) => runRoute(deps, route, request, response));
    }
    const allow = [...new Set(sameShape.flatMap((route) => (route.method === 'GET' ? ['GET', 'HEAD'] : [route.method])))].sort().join(', ');
    application.all(expressPath(sameShape[0]!.path), (request: Request, response: Response) => methodNotAllowed(deps, request, response, allow));
  }
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
