import { findLogins } from '@tocsin/shared/collections/credentials.ts';
import { loginSchema, toLoginJson } from '@tocsin/shared/wire/login.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';

/** `GET /auth/sessions`: the newest 900 logins of the account. */
export function listLogins(deps: Pick<ApiDeps, 'engine'>): Route {
  return route({
    id: 'listLogins',
    method: 'GET',
    path: '/auth/sessions',
    summary: 'List the logins of the account',
    audience: 'login',
    success: { status: 200, schema: z.array(loginSchema), description: 'The logins, newest first' },
    handle: async (context) => {
      const { userId, credentialId } = context.account();
      const found = await findLogins(deps.engine.documents, userId);
      const valid = found.filter(({ expiresAt }) => expiresAt > context.now);
      return { status: 200, body: valid.map((login) => toLoginJson(login, credentialId)) };
    },
  });
}
