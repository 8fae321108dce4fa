import { authUserSchema, toAuthUserJson } from '@tocsin/shared/wire/user.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { loadAccount } from './load-account.ts';

/** Returns the account with its login provider and the time of its consent. */
export function getAuthMe(deps: Pick<ApiDeps, 'engine'>): Route {
  return route({
    id: 'getAuthMe',
    method: 'GET',
    path: '/auth/me',
    summary: 'Get the account with its provider and consent',
    audience: 'account',
    scope: 'account:read',
    success: { status: 200, schema: authUserSchema, description: 'The account' },
    handle: async (context) => ({ status: 200, body: toAuthUserJson(await loadAccount(deps, context), context.now) }),
  });
}
