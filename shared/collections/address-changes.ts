import type { AddressChange } from '../domain/accounts/address-change.ts';
import { retryStale } from '../documents/retry-stale.ts';
import type { Collection, Documents } from '../ports/documents.ts';

export const addressChanges: Collection<AddressChange> = {
  name: 'addressChanges',
  fields: { userId: 'text', oldEmail: 'text', passwordHash: 'text', changedAt: 'time', tokenHash: 'text' },
  uniqueKeys: {},
  indexes: { byUser: ['userId', 'changedAt'], byTime: ['changedAt'], byToken: ['tokenHash'] },
};

/** Returns the change with this token, or null. */
export async function findAddressChange(documents: Documents, tokenHash: string): Promise<AddressChange | null> {
  const [found] = await documents.find(addressChanges, { index: 'byToken', equals: { tokenHash }, limit: 1 });
  return found ?? null;
}

/** Stores the token that is about to be emailed. Null if the change was removed. */
export async function setUndoToken(documents: Documents, id: string, tokenHash: string): Promise<AddressChange | null> {
  return retryStale(async () => {
    const found = await documents.get(addressChanges, id);
    return found === null ? null : documents.update(addressChanges, found, { tokenHash });
  });
}
