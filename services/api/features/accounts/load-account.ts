import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { User } from '@tocsin/shared/domain/accounts/user.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import type { ApiDeps } from '../../api-deps.ts';
import type { RequestContext } from '../../http/route.ts';

/** Returns the stored account of the caller. Throws `unauthenticated` if it was just removed. */
export async function loadAccount(deps: Pick<ApiDeps, 'engine'>, context: RequestContext): Promise<User> {
  const user = await deps.engine.documents.get(users, context.account().userId);
  if (user === null) throw new AppError('unauthenticated', 'Could not validate credentials');
  return user;
}
