import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { User } from '@tocsin/shared/domain/accounts/user.ts';
import type { ApiDeps } from '../../api-deps.ts';
import type { RequestContext } from '../../http/route.ts';
import { passwordProof } from './prove-password.ts';

/** How long after a login its user counts as present. */
const recentMs = 10 * 60 * 1_000;

/**
 * Requires that the user is present: a login of the last ten minutes, or the current password. Throws 403 for API keys
 * (`Requires a login`) and for older logins without a password (`Confirm your password`), 400 for a wrong password.
 */
export function confirmedLogin(
  deps: Pick<ApiDeps, 'clock' | 'config' | 'directory' | 'engine' | 'log' | 'makeId' | 'passwords' | 'wholeAddress'>,
): (context: RequestContext, user: User, password: string | undefined) => Promise<void> {
  const requirePassword = passwordProof(deps);
  return async (context, user, password) => {
    const { scopes, credentialId } = context.account();
    if (scopes !== null) throw new AppError('forbidden', 'Requires a login');
    if (password !== undefined && user.passwordHash !== null) return requirePassword(context, user, password);
    const session = await deps.directory.session(credentialId);
    if (session === null || context.now - session.createdAt > recentMs)
      throw new AppError('forbidden', 'Confirm your password');
  };
}
