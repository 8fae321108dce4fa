import { authUserSchema, toAuthUserJson } from '@tocsin/shared/wire/user.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { loadAccount } from './load-account.ts';

/** The calling account, with how it signs in and when it accepted the terms. */
export function getAuthMe(deps: ApiDeps): Route {
  return route({
    id: 'getAuthMe',
    method: 'GET',
    path: '/auth/me',
    summary: 'The calling account, with its provider and its terms',
    audience: 'account',
    scope: 'account:read',
    success: { status: 200, schema: authUserSchema, description: 'The account' },
    handle: async (context) => ({ status: 200, body: toAuthUserJson(await loadAccount(deps, context), context.now) }),
  });
}
