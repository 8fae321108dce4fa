import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { User } from '@tocsin/shared/domain/accounts/user.ts';
import { isKnownNetwork } from '../../access/remember-network.ts';
import { findUserByEmail } from '@tocsin/shared/collections/users.ts';
import { loginUserSchema, toLoginUserJson } from '@tocsin/shared/wire/user.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { emailField } from '../../http/fields.ts';
import { networkOf } from '../../http/client-address.ts';
import { route, type RequestContext, type Route } from '../../http/route.ts';
import { deviceCookie, isKnownDevice } from '../../access/known-device.ts';
import { recordFailedLogin } from '../../access/failed-logins.ts';
import { loginTokensSchema, openLogin } from '../../access/logins.ts';
import { passwordAttempts } from '../../access/password-attempts.ts';

/** Accepts any text: a password that breaks the rules is simply wrong. */
const body = z
  .object({ email: emailField, password: z.string() })
  .meta({ examples: [{ email: 'ada@example.org', password: 'correct horse battery' }] });

/**
 * Creates a login. An unknown email and a wrong password return the same 401 after the same work. An unverified email
 * is reported only after the correct password.
 */
export function login(
  deps: Pick<
    ApiDeps,
    | 'accessTokens'
    | 'baseUrl'
    | 'clock'
    | 'config'
    | 'directory'
    | 'engine'
    | 'log'
    | 'makeId'
    | 'passwords'
    | 'wholeAddress'
  >,
): Route {
  const attempts = passwordAttempts(deps);
  return route({
    id: 'login',
    method: 'POST',
    path: '/auth/login',
    summary: 'Log in with email and password',
    audience: 'unread',
    body,
    success: {
      status: 200,
      schema: loginTokensSchema.extend({ user: loginUserSchema }),
      description: 'The tokens of the new login, and the account',
    },
    errors: { 401: 'The email or password is wrong.', 403: 'The email is not verified.' },
    handle: async (context, { body: { email, password } }) => {
      const proven = await findUserByEmail(deps.engine.documents, email);
      const isKnownClient = await knowsClient(deps, context, proven?.id ?? deps.makeId());
      const check = () => deps.passwords.matches(password, proven?.passwordHash ?? null);
      const isRight = await attempts(context, { email, isKnownClient, check });
      const refuse = (reason: Refusal) =>
        recordFailedLogin(deps, context, {
          // Write as much for unknown emails as for accounts, so that the response time reveals nothing.
          method: 'password',
          reason,
          account: { id: proven?.id ?? deps.makeId(), email },
        });
      if (!isRight || proven === null) {
        await refuse(proven === null ? 'unknown_person' : 'wrong_password');
        throw invalid();
      }
      const { user, tokens } = await openLogin(deps, context, {
        userId: proven.id,
        through: 'password',
        requireActive: (now) => requireValid(now, proven),
      }).catch(async (error: unknown) => {
        if (error instanceof AppError && error.code === 'forbidden') await refuse('not_verified');
        if (error instanceof AppError && error.code === 'unauthenticated')
          await refuse(proven.isActive ? 'changed_meanwhile' : 'account_disabled');
        throw error;
      });
      return {
        status: 200,
        headers: { 'Set-Cookie': deviceCookie(deps, user.id) },
        body: { ...tokens, user: toLoginUserJson(user, context.now) },
      };
    },
  });
}

/** Whether the account logged in before from this device or network. */
async function knowsClient(
  deps: Pick<ApiDeps, 'engine' | 'wholeAddress'>,
  { request }: RequestContext,
  userId: string,
): Promise<boolean> {
  const isKnown = await isKnownNetwork(deps.engine.documents, userId, networkOf(deps.wholeAddress(request)));
  return isKnown || isKnownDevice(deps, request, userId);
}

/** Reasons for a refused login. The first two have the same length, so that their audit entries have the same size. */
type Refusal = 'unknown_person' | 'wrong_password' | 'not_verified' | 'account_disabled' | 'changed_meanwhile';

const invalid = () => new AppError('unauthenticated', 'Could not validate credentials');

/** The account may have changed since its password was verified. */
function requireValid(user: User | null, proven: User): User {
  if (user === null || !user.isActive || user.passwordHash !== proven.passwordHash || user.email !== proven.email)
    throw invalid();
  if (!user.isVerified) throw new AppError('forbidden', 'Email not verified');
  return user;
}
