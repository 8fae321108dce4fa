import { AppError } from '@tocsin/shared/domain/errors.ts';
import { hashSecret } from '@tocsin/shared/platform/secrets.ts';
import { write } from '@tocsin/shared/ports/documents.ts';
import { mailTokens } from '@tocsin/shared/collections/mail-tokens.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { auditAs } from '../../audit.ts';
import { route, type RequestContext, type Route } from '../../http/route.ts';
import { findTokenHolder } from './find-token-holder.ts';

/** Verifies the email to which the token was sent and redirects to the app, which shows the result. */
export function verifyEmail(
  deps: Pick<ApiDeps, 'appUrl' | 'clock' | 'directory' | 'engine' | 'makeId' | 'wholeAddress'>,
): Route {
  return route({
    id: 'verifyEmail',
    method: 'GET',
    path: '/auth/verify-email',
    summary: 'Verify an email with the emailed link',
    audience: 'unread',
    query: z.object({ token: z.string().default('') }),
    success: {
      status: 302,
      schema: null,
      description: 'Redirects to the app with `status=success`, or `status=error` and a message',
      headers: { Location: 'The page of the app that shows the result.' },
    },
    handle: async (context, { query }) => {
      // Link scanners of email programs send HEAD first, which must not use the token.
      const isLookOnly = context.request.method === 'HEAD';
      const fault = await faultOf(() => useToken(deps, context, { token: query.token, isLookOnly }));
      const outcome = fault === null ? 'status=success' : `status=error&message=${encodeURIComponent(fault)}`;
      return { status: 302, headers: { Location: `${deps.appUrl}/auth/verified?${outcome}` } };
    },
  });
}

async function faultOf(act: () => Promise<void>): Promise<string | null> {
  try {
    await act();
    return null;
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid') return error.message;
    throw error;
  }
}

async function useToken(
  deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine' | 'makeId' | 'wholeAddress'>,
  context: RequestContext,
  { token, isLookOnly }: { token: string; isLookOnly: boolean },
): Promise<void> {
  const { documents } = deps.engine;
  const userId = await retryStale(async () => {
    const { mailToken, user } = await findTokenHolder(deps, 'verify-email', hashSecret(token));
    if (!isLookOnly) {
      await documents.commit([
        write.update(users, user, { isVerified: true, wasVerified: true }),
        write.remove(mailTokens, mailToken.id, mailToken.version),
        ...auditAs(deps, context, { actor: user.id, through: 'mail_link' })({
          action: 'account.verified',
          subject: { id: user.id },
          details: {},
        }),
      ]);
    }
    return user.id;
  });
  await deps.directory.changed({ kind: 'user', userId });
}
