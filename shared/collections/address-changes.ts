import type { AddressChange } from '../domain/accounts/address-change.ts';
import type { Collection } from '../ports/documents.ts';

export const addressChanges: Collection<AddressChange> = {
  name: 'addressChanges',
  fields: { userId: 'text', oldEmail: 'text', changedAt: 'time' },
  uniqueKeys: {},
  indexes: { byUser: ['userId', 'changedAt'], byTime: ['changedAt'] },
};
