import { AppError } from '@tocsin/shared/domain/errors.ts';
import { mailTokenLifetimeMs } from '@tocsin/shared/domain/accounts/mail-token.ts';
import type { User } from '@tocsin/shared/domain/accounts/user.ts';
import { confirmRegistration } from '@tocsin/shared/operations/accounts/register-account.ts';
import { hashSecret, makeSecret } from '@tocsin/shared/platform/secrets.ts';
import { write, type Write } from '@tocsin/shared/ports/documents.ts';
import { mailTokens } from '@tocsin/shared/collections/mail-tokens.ts';
import { findRegistrationByToken } from '@tocsin/shared/collections/registrations.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { auditAs, auditOfSystem } from '../../audit.ts';
import { route, type RequestContext, type Route } from '../../http/route.ts';
import { findTokenHolder } from './find-token-holder.ts';
import { verifiedCookie, type Verified } from './verified-cookie.ts';

/**
 * Verifies the email to which the token was sent and redirects to the app, which shows the result. A cookie has the
 * username and, for a new account, a token with which its address can disown it.
 */
export function verifyEmail(
  deps: Pick<ApiDeps, 'appUrl' | 'baseUrl' | 'clock' | 'directory' | 'engine' | 'makeId' | 'wholeAddress'>,
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
      description:
        'Redirects to the app with `status=success`, or `status=error` and a message. On success, the cookie `tocsin_verified` ' +
        'has base64url JSON with `username` and, for a new account, `removal`: the token of `POST /auth/verify-email/undo`.',
      headers: { Location: 'The page of the app that shows the result.' },
    },
    handle: async (context, { query }) => {
      // Link scanners of email programs send HEAD first, which must not use the token.
      const isCheckOnly = context.request.method === 'HEAD';
      const tokenHash = hashSecret(query.token);
      const redirectTo = (result: string) => ({ Location: `${deps.appUrl}/auth/verified?${result}` });
      try {
        const verified = isCheckOnly ? await checkToken(deps, tokenHash) : await useToken(deps, context, tokenHash);
        const cookie = verified === null ? {} : { 'Set-Cookie': verifiedCookie(deps, verified) };
        return { status: 302, headers: { ...redirectTo('status=success'), ...cookie } };
      } catch (error) {
        if (!(error instanceof AppError) || (error.code !== 'invalid' && error.code !== 'conflict')) throw error;
        return { status: 302, headers: redirectTo(`status=error&message=${encodeURIComponent(error.message)}`) };
      }
    },
  });
}

/** Checks the token without using it. Throws `invalid`. */
async function checkToken(deps: Pick<ApiDeps, 'clock' | 'engine'>, tokenHash: string): Promise<null> {
  const registration = await findRegistrationByToken(deps.engine.documents, tokenHash);
  if (registration === null) await findTokenHolder(deps, 'verify-email', tokenHash);
  else if (registration.tokenExpiresAt! <= deps.clock()) throw new AppError('invalid', 'Token has expired');
  return null;
}

async function useToken(
  deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine' | 'makeId' | 'wholeAddress'>,
  context: RequestContext,
  tokenHash: string,
): Promise<Verified> {
  const removal = makeSecret();
  const { user, isNew } = await verify(deps, context, { tokenHash, removal });
  await deps.directory.changed({ kind: 'user', userId: user.id });
  return { username: user.username, ...(isNew ? { removal } : {}) };
}

/** Verifies the address of a registration, or of an account that changed its address. */
async function verify(
  deps: Pick<ApiDeps, 'clock' | 'engine' | 'makeId' | 'wholeAddress'>,
  context: RequestContext,
  { tokenHash, removal }: { tokenHash: string; removal: string },
): Promise<{ user: User; isNew: boolean }> {
  const { documents } = deps.engine;
  const recorded = ({ id }: Pick<User, 'id'>): Write[] =>
    auditAs(deps, context, { actor: id, through: 'mail_link' })({
      action: 'account.verified',
      subject: { id },
      details: {},
    });
  const disowning = ({ id, email }: Pick<User, 'id' | 'email'>): Write =>
    write.insert(mailTokens, {
      id: deps.makeId(),
      purpose: 'disown-account',
      userId: id,
      email,
      tokenHash: hashSecret(removal),
      expiresAt: deps.clock() + mailTokenLifetimeMs['disown-account'],
    });
  const registered = await confirmRegistration(documents, tokenHash, {
    now: deps.clock(),
    makeId: deps.makeId,
    otherWrites: (account) => [disowning(account), ...recorded(account)],
    audit: auditOfSystem(deps),
  });
  if (registered !== null) return { user: registered, isNew: true };
  return retryStale(async () => {
    const { mailToken, user } = await findTokenHolder(deps, 'verify-email', tokenHash);
    await documents.commit([
      write.update(users, user, { isVerified: true, wasVerified: true }),
      write.remove(mailTokens, mailToken.id, mailToken.version),
      ...(user.wasVerified ? [] : [disowning(user)]),
      ...recorded(user),
    ]);
    return { user, isNew: !user.wasVerified };
  });
}
