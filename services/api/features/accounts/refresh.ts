import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { loginTokensSchema, refreshLogin } from '../../access/logins.ts';

/** Exchanges a refresh token, which is good once, for a new pair of tokens. */
export function refresh(deps: ApiDeps): Route {
  return route({
    id: 'refresh',
    method: 'POST',
    path: '/auth/refresh',
    summary: 'Exchange a refresh token for a new pair of tokens',
    audience: 'unread',
    body: z.object({ refresh_token: z.string() }),
    errors: { 401: 'The refresh token is wrong, expired or was used before.' },
    success: {
      status: 200,
      schema: loginTokensSchema,
      description: 'The new tokens; the refresh token that was sent is used up',
    },
    handle: async (context, { body }) => ({ status: 200, body: await refreshLogin(deps, context, body.refresh_token) }),
  });
}
