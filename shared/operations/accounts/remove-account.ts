import { AppError } from '../../domain/errors.ts';
import type { User } from '../../domain/accounts/user.ts';
import { write, type Documents } from '../../ports/documents.ts';
import { accountErasures, type AccountErasure } from '../../collections/account-erasures.ts';
import type { Audit } from '../../collections/audit-log.ts';
import { identities } from '../../collections/identities.ts';
import { topics } from '../../collections/topics.ts';
import { users } from '../../collections/users.ts';

/** More identities than an account can have. */
const identitiesMax = 100;

/**
 * Removes the account in one commit if it still has this version. Its credentials are then invalid, nothing can be
 * created for it, and its address, username and identities are free. The commit stores a tombstone, from which
 * `eraseAccount` erases the remaining data.
 *
 * Throws `conflict` if one of its topics is under legal hold, and StaleVersion. Setting a hold increments the owner's
 * version in the same commit, so that of a concurrent hold and deletion only one succeeds.
 */
export async function removeAccount(
  documents: Documents,
  user: User,
  by: { now: number; audit: Audit; reason?: 'disowned' },
): Promise<AccountErasure> {
  const held = await documents.count(topics, { index: 'byOwnerHeld', equals: { ownerId: user.id, isHeld: true } });
  if (held > 0) throw new AppError('conflict', 'Topic is under legal hold');
  const linkedIdentities = await documents.find(identities, {
    index: 'byUser',
    equals: { userId: user.id },
    limit: identitiesMax,
  });
  const erasure = { id: user.id, email: user.email, requestedAt: by.now };
  await documents.commit([
    write.remove(users, user.id, user.version),
    ...linkedIdentities.map(({ id }) => write.remove(identities, id)),
    write.insert(accountErasures, erasure),
    ...by.audit({ action: 'account.deleted', subject: { id: user.id }, details: { reason: by.reason ?? 'request' } }),
  ]);
  return { ...erasure, version: 1 };
}
