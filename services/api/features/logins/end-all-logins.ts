import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { endLogins } from '../../access/end-logins.ts';
import { queryBoolean } from '../../http/paging.ts';
import { route, type Route } from '../../http/route.ts';

/** `DELETE /auth/sessions`: logs out everywhere. */
export function endAllLogins(deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine' | 'makeId' | 'wholeAddress'>): Route {
  return route({
    id: 'endAllLogins',
    method: 'DELETE',
    path: '/auth/sessions',
    summary: 'End all logins of the account',
    audience: 'login',
    query: z.object({ keep_current: queryBoolean.default(false).describe('Keep the login of the request.') }),
    success: { status: 204, schema: null, description: 'The logins have ended' },
    handle: async (context, { query }) => {
      const { credentialId } = context.account();
      await endLogins(deps, context, ({ id }) => !query.keep_current || id !== credentialId);
      return { status: 204 };
    },
  });
}
