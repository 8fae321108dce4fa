import { toUserJson, userSchema } from '@tocsin/shared/wire/user.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { loadAccount } from './load-account.ts';

/** Returns the account with its tier. */
export function getMe(deps: Pick<ApiDeps, 'engine'>): Route {
  return route({
    id: 'getMe',
    method: 'GET',
    path: '/api/users/me',
    summary: 'Get the account with its tier',
    audience: 'account',
    scope: 'account:read',
    success: { status: 200, schema: userSchema, description: 'The account' },
    handle: async (context) => ({ status: 200, body: toUserJson(await loadAccount(deps, context), context.now) }),
  });
}
