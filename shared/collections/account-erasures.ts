import type { Collection } from '../ports/documents.ts';

/**
 * A deleted account whose data may not be fully erased yet. Stored by the commit that removes the account, so that a
 * crash cannot lose it. A job erases the data promptly, and a sweep of the retention service covers lost jobs.
 */
export interface AccountErasure {
  /** The account's ID. */
  readonly id: string;
  readonly version: number;
  /**
   * The former address, to find its invites. Empty for a never-verified account, whose invites belong to the next owner
   * of the address.
   */
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
