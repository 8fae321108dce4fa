import type { AddressChange } from '../../domain/accounts/address-change.ts';
import { addressChangeUndoMs } from '../../domain/accounts/address-change.ts';
import { AppError } from '../../domain/errors.ts';
import type { Change } from '../../domain/change.ts';
import type { User } from '../../domain/accounts/user.ts';
import { write, type Documents, type Write } from '../../ports/documents.ts';
import { addressChanges, findAddressChange } from '../../collections/address-changes.ts';
import type { Audit } from '../../collections/audit-log.ts';
import { apiKeys, findApiKeys } from '../../collections/credentials.ts';
import { identities } from '../../collections/identities.ts';
import { invalidateMailTokens } from '../../collections/mail-tokens.ts';
import { users } from '../../collections/users.ts';
import { freeAddressAndUsername } from './accounts.ts';
import { changeAndEndLogins } from './change-and-end-logins.ts';

const listedMax = 100;

export interface Undo {
  readonly now: number;
  /** Records actions of the account. */
  readonly audit: (userId: string) => Audit;
  readonly systemAudit: Audit;
}

/**
 * Restores the address and the password of an account before a change of its address, and ends all logins. Revokes the
 * API keys and removes the identities added since, because they may belong to a thief. Changes after this one can no
 * longer be undone; earlier ones still can. Resolves with the account and the changes that the caller must publish to
 * the nodes. Throws `invalid` for an unknown, used or expired token, and `conflict` if another verified account has the
 * address.
 */
export async function undoAddressChange(
  documents: Documents,
  tokenHash: string,
  by: Undo,
): Promise<{ user: User; changes: readonly Change[] }> {
  let revoked: readonly Change[] = [];
  const { user, changes } = await changeAndEndLogins(documents, async () => {
    const change = await findAddressChange(documents, tokenHash);
    const found = change === null ? null : await documents.get(users, change.userId);
    if (change === null || found === null) throw new AppError('invalid', 'Invalid or used token');
    if (change.changedAt + addressChangeUndoMs <= by.now) throw new AppError('invalid', 'Token has expired');
    const added = await addedSince(documents, change);
    revoked = added.changes;
    const claim = { id: found.id, email: change.oldEmail, usernameKey: found.usernameKey };
    return {
      user: found,
      set: { email: change.oldEmail, passwordHash: change.passwordHash, isVerified: true, wasVerified: true },
      otherWrites: [
        ...(await freeAddressAndUsername(documents, claim, by.systemAudit)),
        ...(await changesSince(documents, change)),
        ...added.writes,
        ...(await invalidateMailTokens(documents, found.id)),
        ...by.audit(found.id)({
          action: 'account.email_change_undone',
          subject: { id: found.id },
          details: {},
          formerEmail: found.email,
        }),
      ],
    };
  });
  return { user, changes: [...changes, ...revoked] };
}

async function changesSince(documents: Documents, { userId, changedAt }: AddressChange): Promise<Write[]> {
  const equals = { userId };
  const found = await documents.find(addressChanges, { index: 'byUser', equals, from: changedAt, limit: listedMax });
  return found.map(({ id, version }) => write.remove(addressChanges, id, version));
}

async function addedSince(
  documents: Documents,
  { userId, changedAt }: AddressChange,
): Promise<{ writes: Write[]; changes: readonly Change[] }> {
  const isNew = (at: number): boolean => at >= changedAt;
  const keys = (await findApiKeys(documents, userId)).filter(({ createdAt, isActive }) => isActive && isNew(createdAt));
  const linked = await documents.find(identities, { index: 'byUser', equals: { userId }, limit: listedMax });
  return {
    writes: [
      ...keys.map((key) => write.update(apiKeys, key, { isActive: false })),
      ...linked.filter(({ linkedAt }) => isNew(linkedAt)).map(({ id }) => write.remove(identities, id)),
    ],
    changes: keys.map(({ secretHash }) => ({ kind: 'api-key', secretHash })),
  };
}
