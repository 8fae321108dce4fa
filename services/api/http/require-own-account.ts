import { AppError } from '@tocsin/shared/domain/errors.ts';
import { write, type Documents, type Write } from '@tocsin/shared/ports/documents.ts';
import { users } from '@tocsin/shared/collections/users.ts';

/**
 * Returns the condition of a commit that the account still exists, so that nothing is created for an account that is
 * being deleted. Throws 401 if it is already deleted.
 */
export async function requireOwnAccount(documents: Documents, userId: string): Promise<Write> {
  const user = await documents.get(users, userId);
  if (user === null) throw new AppError('unauthenticated', 'Could not validate credentials');
  return write.require(users, user);
}
