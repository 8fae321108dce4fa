import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { User } from '@tocsin/shared/domain/accounts/user.ts';
import { isUuid } from '@tocsin/shared/platform/ids.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { findUserByEmail, findUserByUsername, users } from '@tocsin/shared/collections/users.ts';

/**
 * Returns the account with the email address, username or ID, case-insensitive. Throws `not_found` `User not found`.
 */
export async function findAccount(documents: Documents, who: string): Promise<User> {
  const find = (): Promise<User | null> => {
    if (isUuid(who)) return documents.get(users, who.toLowerCase());
    return who.includes('@') ? findUserByEmail(documents, who) : findUserByUsername(documents, who);
  };
  const user = await find();
  if (user === null) throw new AppError('not_found', 'User not found');
  return user;
}
