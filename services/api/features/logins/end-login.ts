import { AppError } from '@tocsin/shared/domain/errors.ts';
import { loginSessions } from '@tocsin/shared/collections/credentials.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { endLogins } from '../../access/end-logins.ts';
import { pathId } from '../../http/load-topic.ts';
import { route, type Route } from '../../http/route.ts';

/** `DELETE /auth/sessions/{session_id}` */
export function endLogin(deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine' | 'makeId' | 'wholeAddress'>): Route {
  return route({
    id: 'endLogin',
    method: 'DELETE',
    path: '/auth/sessions/{session_id}',
    summary: 'End a login of the account',
    audience: 'login',
    success: { status: 204, schema: null, description: 'The login has ended' },
    load: async (context) => {
      const { userId } = context.account();
      const login = await deps.engine.documents.get(loginSessions, pathId(context, 'session_id'));
      if (login === null || login.userId !== userId) throw new AppError('not_found', 'Login not found');
      return login;
    },
    handle: async (context, { loaded }) => {
      await endLogins(deps, context, ({ id }) => id === loaded.id);
      return { status: 204 };
    },
  });
}
