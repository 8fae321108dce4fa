import type { Collection } from '../ports/documents.ts';

/**
 * A deleted account whose data may not be fully erased yet. The commit that removes the account stores it, so that a
 * crash cannot lose it: a job erases the rest promptly, and a sweep of the retention service covers lost jobs.
 */
export interface AccountErasure {
  /** The account's ID. */
  readonly id: string;
  readonly version: number;
  /** The former address, which invites refer to. Empty for a never-verified account, whose invites belong to the next owner of the address. */
  readonly email: string;
  /** Milliseconds since the epoch. */
  readonly requestedAt: number;
}

export const accountErasures: Collection<AccountErasure> = {
  name: 'accountErasures',
  fields: { email: 'text', requestedAt: 'time' },
  uniqueKeys: {},
  indexes: { byRequest: ['requestedAt'] },
};
