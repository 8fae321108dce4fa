import { eraseSoon } from '../../erasure/erase-soon.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { removeAccount } from '@tocsin/shared/operations/accounts/remove-account.ts';
import { hashSecret } from '@tocsin/shared/platform/secrets.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { auditAs } from '../../audit.ts';
import { route, type Route } from '../../http/route.ts';
import { messageSchema } from './account-fields.ts';
import { findTokenHolder } from './find-token-holder.ts';

/**
 * `POST /auth/verify-email/undo`: removes an account that someone else registered with the caller's address. The token
 * comes with the redirect of the verification link.
 */
export function disownAccount(
  deps: Pick<ApiDeps, 'clock' | 'config' | 'directory' | 'engine' | 'log' | 'makeId' | 'wholeAddress'>,
): Route {
  return route({
    id: 'disownAccount',
    method: 'POST',
    path: '/auth/verify-email/undo',
    summary: 'Remove an account that someone else registered with the email',
    description:
      'The verification link sets the cookie `tocsin_verified`, which has the token of this request. It is valid for 24 hours.',
    audience: 'unread',
    body: z.object({ token: z.string() }),
    errors: {
      400: 'Malformed JSON, or the token is unknown, used or expired.',
      409: 'A topic of the account is under legal hold.',
    },
    success: { status: 200, schema: messageSchema, description: 'The account was removed' },
    handle: async (context, { body }) => {
      const userId = await retryStale(async () => {
        const { user } = await findTokenHolder(deps, 'disown-account', hashSecret(body.token));
        const audit = auditAs(deps, context, { actor: user.id, through: 'mail_link' });
        await removeAccount(deps.engine.documents, user, { now: deps.clock(), reason: 'disowned', audit });
        return user.id;
      });
      await deps.directory.changed({ kind: 'user', userId });
      await eraseSoon(deps, userId);
      return { status: 200, body: { message: 'The account was removed' } };
    },
  });
}
