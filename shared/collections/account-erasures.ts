import type { Collection } from '../ports/documents.ts';

/**
 * That an account was deleted and something of it may be left. Stored in the commit that takes the account away, so that
 * no crash can lose it: a job makes the rest prompt, the retention service's sweep makes it certain.
 */
export interface AccountErasure {
  /** The account's. */
  readonly id: string;
  readonly version: number;
  /** The address that it had: invites are found by it. Empty for one that was never verified: they are for whoever has it next. */
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
