import type { User } from '../../domain/accounts/user.ts';
import type { Documents } from '../../ports/documents.ts';
import type { Audit } from '../../collections/audit-log.ts';
import { updateUserByEmail } from '../../collections/users.ts';

/**
 * Disables an account, or undoes that: while it is disabled every credential of it is invalid, and nothing of it is
 * lost. Throws `not_found` `User not found`.
 */
export function setActive(documents: Documents, email: string, isActive: boolean, audit: Audit): Promise<User> {
  return updateUserByEmail(documents, email, ({ id }) => ({
    set: { isActive },
    also: audit({ action: isActive ? 'account.enabled' : 'account.disabled', subject: { id }, details: {} }),
  }));
}
