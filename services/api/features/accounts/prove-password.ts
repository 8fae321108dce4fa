import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { User } from '@tocsin/shared/domain/accounts/user.ts';
import type { ApiDeps } from '../../api-deps.ts';
import type { RequestContext } from '../../http/route.ts';
import { recordFailedCheck } from '../../access/failed-logins.ts';
import { passwordAttempts } from '../../access/password-attempts.ts';
import { loadAccount } from './load-account.ts';

/** A route's `load`: the caller's account. Throws 403 if it has no password. */
export async function loadPasswordHolder(deps: Pick<ApiDeps, 'engine'>, context: RequestContext): Promise<User> {
  const user = await loadAccount(deps, context);
  if (user.passwordHash === null)
    throw new AppError('forbidden', 'This account has no password: a password reset gives it one');
  return user;
}

export const wrongPassword = () => new AppError('invalid', 'Current password is wrong');

/** Throws 400 for a wrong password and 429 after five attempts, so that a stolen login cannot be used to guess it. */
export function passwordProof(
  deps: Pick<ApiDeps, 'clock' | 'config' | 'engine' | 'log' | 'makeId' | 'passwords' | 'wholeAddress'>,
): (context: RequestContext, user: User, password: string) => Promise<void> {
  const attempts = passwordAttempts(deps);
  return async (context, user, password) => {
    const check = () => deps.passwords.matches(password, user.passwordHash);
    // Only a client with a valid login gets here.
    if (await attempts(context, { email: user.email, isKnownClient: true, check })) return;
    await recordFailedCheck(deps, context, user);
    throw wrongPassword();
  };
}
