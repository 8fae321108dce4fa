import { AppError } from '../../domain/errors.ts';
import type { User } from '../../domain/accounts/user.ts';
import { write, type Documents } from '../../ports/documents.ts';
import { accountErasures, type AccountErasure } from '../../collections/account-erasures.ts';
import type { Audit } from '../../collections/audit-log.ts';
import { identities } from '../../collections/identities.ts';
import { topics } from '../../collections/topics.ts';
import { users } from '../../collections/users.ts';

/** Persons at providers that one account can be tied to, and then some. */
const identitiesMax = 100;

/**
 * Takes the account away in one commit, if it still has this version: from then on none of its credentials is valid,
 * nothing can be made for it, and its address, username and identities are free. What it leaves behind is erased by
 * `eraseAccount`, which the commit's tombstone keeps until it is done.
 *
 * Throws `conflict` when one of its topics is under legal hold. Whoever puts a topic under hold moves its owner's version
 * in the same commit: of a hold and a deletion at once only one is then stored. Throws StaleVersion.
 */
export async function removeAccount(
  documents: Documents,
  user: User,
  by: { now: number; audit: Audit },
): Promise<AccountErasure> {
  const held = await documents.count(topics, { index: 'byOwnerHeld', equals: { ownerId: user.id, isHeld: true } });
  if (held > 0) throw new AppError('conflict', 'Topic is under legal hold');
  const tied = await documents.find(identities, { index: 'byUser', equals: { userId: user.id }, limit: identitiesMax });
  const erasure = { id: user.id, email: user.email, requestedAt: by.now };
  await documents.commit([
    write.remove(users, user.id, user.version),
    ...tied.map(({ id }) => write.remove(identities, id)),
    write.insert(accountErasures, erasure),
    ...by.audit({ action: 'account.deleted', subject: { id: user.id }, details: { reason: 'request' } }),
  ]);
  return { ...erasure, version: 1 };
}
