import { hashSecret } from '@tocsin/shared/platform/secrets.ts';
import { write } from '@tocsin/shared/ports/documents.ts';
import { mailTokens } from '@tocsin/shared/collections/mail-tokens.ts';
import { rememberNetwork } from '../../access/remember-network.ts';
import { removeRegistrations } from '@tocsin/shared/collections/registrations.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { auditAs } from '../../audit.ts';
import { changeAndEndLogins } from '../../access/logins.ts';
import { deviceCookie } from '../../access/known-device.ts';
import { networkOf } from '../../http/client-address.ts';
import { sendNotice } from '../../access/send-notice.ts';
import { messageSchema, newPasswordField } from './account-fields.ts';
import { findTokenHolder } from './find-token-holder.ts';

/**
 * Sets a new password with the emailed token, ends all logins, and verifies the email, because the mailbox is proven.
 * Also gives a password to an account that had none. The account then knows the device and the network, so that other
 * people's failed logins do not slow down the next login.
 */
export function confirmPasswordReset(
  deps: Pick<
    ApiDeps,
    'baseUrl' | 'clock' | 'config' | 'directory' | 'engine' | 'log' | 'makeId' | 'passwords' | 'wholeAddress'
  >,
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
      const { documents } = deps.engine;
      const tokenHash = hashSecret(body.token);
      const network = networkOf(deps.wholeAddress(context.request));
      // Check the token before the expensive hashing.
      await findTokenHolder(deps, 'password-reset', tokenHash);
      const passwordHash = await deps.passwords.hash(body.new_password);
      const changed = await changeAndEndLogins(deps, async () => {
        const { mailToken, user } = await findTokenHolder(deps, 'password-reset', tokenHash);
        return {
          user,
          set: { passwordHash, isVerified: true, wasVerified: true },
          otherWrites: [
            write.remove(mailTokens, mailToken.id, mailToken.version),
            ...(await removeRegistrations(documents, user.email)),
            ...(await rememberNetwork(documents, { userId: user.id, network, now: context.now })).writes,
            ...auditAs(deps, context, { actor: user.id, through: 'mail_link' })({
              action: 'password.reset',
              subject: { id: user.id },
              details: {},
            }),
          ],
        };
      });
      await sendNotice(deps, changed.email, { kind: 'password-changed', userId: changed.id, at: context.now });
      return {
        status: 200,
        headers: { 'Set-Cookie': deviceCookie(deps, changed.id) },
        body: { message: 'The password was changed: log in with the new one' },
      };
    },
  });
}
