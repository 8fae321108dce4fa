import { invalidateMailTokens } from '@tocsin/shared/collections/mail-tokens.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { auditOf } from '../../audit.ts';
import { changeAndEndLogins, loginTokensSchema, newLogin } from '../../access/logins.ts';
import { sendNotice } from '../../access/send-notice.ts';
import { newPasswordField } from './account-fields.ts';
import { loadAccount } from './load-account.ts';
import { loadPasswordHolder, passwordProof, wrongPassword } from './prove-password.ts';

/** Sets a new password, ends all logins including the current one, and returns a new login. */
export function changePassword(
  deps: Pick<
    ApiDeps,
    'accessTokens' | 'clock' | 'config' | 'directory' | 'engine' | 'log' | 'makeId' | 'passwords' | 'wholeAddress'
  >,
): Route {
  const requirePassword = passwordProof(deps);
  return route({
    id: 'changePassword',
    method: 'POST',
    path: '/auth/password-change',
    summary: 'Change the password and end all other logins',
    audience: 'login',
    body: z.object({ current_password: z.string(), new_password: newPasswordField }),
    errors: { 400: 'Malformed JSON, or the current password is wrong.' },
    success: {
      status: 200,
      schema: loginTokensSchema.extend({ message: z.string() }),
      description: 'A new login, which is the only valid one',
    },
    load: (context) => loadPasswordHolder(deps, context),
    handle: async (context, { loaded: proven, body }) => {
      await requirePassword(context, proven, body.current_password);
      const passwordHash = await deps.passwords.hash(body.new_password);
      const login = newLogin(deps, context, proven.id);
      const recorded = auditOf(deps, context)({ action: 'password.changed', subject: { id: proven.id }, details: {} });
      await changeAndEndLogins(deps, async () => {
        const user = await loadAccount(deps, context);
        if (user.passwordHash !== proven.passwordHash) throw wrongPassword();
        return {
          user,
          set: { passwordHash },
          otherWrites: [
            ...(await invalidateMailTokens(deps.engine.documents, user.id, 'password-reset')),
            login.insert,
            ...recorded,
          ],
        };
      });
      await sendNotice(deps, proven.email, { kind: 'password-changed', userId: proven.id, at: context.now });
      return { status: 200, body: { message: 'The password was changed', ...(await login.tokens()) } };
    },
  });
}
