import type { User } from '../../domain/accounts/user.ts';
import type { Documents } from '../../ports/documents.ts';
import type { Audit } from '../../collections/audit-log.ts';
import { updateUserByEmail } from '../../collections/users.ts';

/**
 * Disables or enables an account. A disabled account keeps its data, but its credentials are invalid.
 * Throws `not_found` `User not found`.
 */
export function setActive(documents: Documents, email: string, isActive: boolean, audit: Audit): Promise<User> {
  return updateUserByEmail(documents, email, ({ id }) => ({
    set: { isActive },
    otherWrites: audit({ action: isActive ? 'account.enabled' : 'account.disabled', subject: { id }, details: {} }),
  }));
}
