import { hashSecret } from '@tocsin/shared/platform/secrets.ts';
import { undoAddressChange } from '@tocsin/shared/operations/accounts/undo-address-change.ts';
import { requestMail } from '@tocsin/shared/runtime/request-mail.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { auditAs, auditOfSystem } from '../../audit.ts';
import { route, type Route } from '../../http/route.ts';
import { messageSchema } from './account-fields.ts';

/**
 * `POST /auth/email-change/undo`: restores the email of an account whose email someone else changed, with the token
 * that its former address received. Ends all logins, takes back the password, keys and linked providers that were added
 * since, and emails a link for a new password.
 */
export function undoEmailChange(
  deps: Pick<ApiDeps, 'clock' | 'config' | 'directory' | 'engine' | 'log' | 'makeId' | 'wholeAddress'>,
): Route {
  return route({
    id: 'undoEmailChange',
    method: 'POST',
    path: '/auth/email-change/undo',
    summary: 'Undo a change of the email with the link in the notice to the former address',
    description:
      'The link is valid for 7 days. The email and the password are again those before the change, all logins end, API keys ' +
      'created since are revoked, and identity providers linked since are unlinked. The restored address receives a link to set ' +
      'a new password.',
    audience: 'unread',
    body: z.object({ token: z.string() }),
    errors: {
      400: 'Malformed JSON, or the token is unknown, used or expired.',
      409: 'The email belongs to another account now.',
    },
    success: { status: 200, schema: messageSchema, description: 'The former email is the email of the account again' },
    handle: async (context, { body }) => {
      const { user, changes } = await undoAddressChange(deps.engine.documents, hashSecret(body.token), {
        now: deps.clock(),
        audit: (userId) => auditAs(deps, context, { actor: userId, through: 'mail_link' }),
        systemAudit: auditOfSystem(deps),
      });
      await deps.directory.changed(...changes);
      await requestMail(
        deps,
        { email: user.email, requester: context.address },
        { kind: 'password-reset', userId: user.id },
      );
      return {
        status: 200,
        body: { message: 'The change was undone: a link for a new password is on its way to the address' },
      };
    },
  });
}
