import { hashSecret } from '@tocsin/shared/platform/secrets.ts';
import { write } from '@tocsin/shared/ports/documents.ts';
import { mailTokens } from '@tocsin/shared/collections/mail-tokens.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { auditAs } from '../../audit.ts';
import { changeAndEndLogins } from '../../access/logins.ts';
import { messageSchema, newPasswordField } from './account-fields.ts';
import { findTokenHolder } from './find-token-holder.ts';

/**
 * Sets a new password with the emailed token, ends all logins, and verifies the email, because the mailbox is proven. Also
 * gives a password to an account that had none.
 */
export function confirmPasswordReset(
  deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine' | 'makeId' | 'passwords' | 'wholeAddress'>,
): Route {
  return route({
    id: 'confirmPasswordReset',
    method: 'POST',
    path: '/auth/password-reset/confirm',
    summary: 'Set a new password with the emailed token',
    audience: 'unread',
    body: z.object({ token: z.string(), new_password: newPasswordField }),
    errors: { 400: 'Malformed JSON, or the token is unknown, used or expired.' },
    success: { status: 200, schema: messageSchema, description: 'The password was set, and all logins have ended' },
    handle: async (context, { body }) => {
      const tokenHash = hashSecret(body.token);
      // Check the token before the expensive hashing.
      await findTokenHolder(deps, 'password-reset', tokenHash);
      const passwordHash = await deps.passwords.hash(body.new_password);
      await changeAndEndLogins(deps, async () => {
        const { mailToken, user } = await findTokenHolder(deps, 'password-reset', tokenHash);
        return {
          user,
          set: { passwordHash, isVerified: true, wasVerified: true },
          otherWrites: [
            write.remove(mailTokens, mailToken.id, mailToken.version),
            ...auditAs(deps, context, { actor: user.id, through: 'mail_link' })({
              action: 'password.reset',
              subject: { id: user.id },
              details: {},
            }),
          ],
        };
      });
      return { status: 200, body: { message: 'The password was changed: log in with the new one' } };
    },
  });
}
