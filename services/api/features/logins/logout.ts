import type { ApiDeps } from '../../api-deps.ts';
import { endLogins } from '../../access/end-logins.ts';
import { route, type Route } from '../../http/route.ts';

/** `POST /auth/logout`: ends the login of the request with all its tokens. */
export function logout(deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine' | 'makeId' | 'wholeAddress'>): Route {
  return route({
    id: 'logout',
    method: 'POST',
    path: '/auth/logout',
    summary: 'End the login',
    description: 'Its access and refresh tokens become invalid. Streams that it opened end within 5 seconds.',
    audience: 'login',
    success: { status: 204, schema: null, description: 'The login has ended' },
    handle: async (context) => {
      const { credentialId } = context.account();
      await endLogins(deps, context, ({ id }) => id === credentialId);
      return { status: 204 };
    },
  });
}
