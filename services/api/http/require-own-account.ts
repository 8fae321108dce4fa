import { AppError } from '@tocsin/shared/domain/errors.ts';
import { write, type Documents, type Write } from '@tocsin/shared/ports/documents.ts';
import { users } from '@tocsin/shared/collections/users.ts';

/**
 * The part of a commit that makes sure that the account is still there, so that nothing is made for one that is being
 * deleted. Throws 401 when it is gone already.
 */
export async function requireOwnAccount(documents: Documents, userId: string): Promise<Write> {
  const user = await documents.get(users, userId);
  if (user === null) throw new AppError('unauthenticated', 'Could not validate credentials');
  return write.require(users, user);
}
