import type { User } from '../domain/user.ts';
import type { Documents } from '../ports/documents.ts';
import { updateUserByEmail } from './users.ts';

/**
 * Disables an account, or undoes that: while it is disabled every credential of it is invalid, and nothing of it is
 * lost. Throws `not_found` `User not found`.
 */
export function setActive(documents: Documents, email: string, isActive: boolean): Promise<User> {
  return updateUserByEmail(documents, email, () => ({ isActive }));
}
