import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { loginTokensSchema, refreshLogin } from '../../access/logins.ts';

/** `POST /auth/refresh` */
export function refresh(
  deps: Pick<ApiDeps, 'accessTokens' | 'clock' | 'config' | 'directory' | 'engine' | 'log' | 'makeId' | 'wholeAddress'>,
): Route {
  return route({
    id: 'refresh',
    method: 'POST',
    path: '/auth/refresh',
    summary: 'Exchange a refresh token for a new pair of tokens',
    description:
      'A client that repeats the request within 10 seconds, because the response was lost, gets the same pair.',
    audience: 'unread',
    body: z.object({ refresh_token: z.string() }),
    errors: { 401: 'The refresh token is invalid, expired or already used.' },
    success: {
      status: 200,
      schema: loginTokensSchema,
      description: 'The new tokens; the sent refresh token is no longer valid',
    },
    handle: async (context, { body }) => ({ status: 200, body: await refreshLogin(deps, context, body.refresh_token) }),
  });
}
