import type { Tier } from '@tocsin/shared/domain/accounts/tiers.ts';
import type { Role } from '@tocsin/shared/domain/teams/team.ts';
import type { Account } from './stack.ts';

export interface PersonOptions {
  readonly tier?: Tier;
  /** Unix time in milliseconds; may be in the past. */
  readonly tierExpiresAt?: number;
}

/**
 * Creates the accounts and teams that tests need. Two ways exist: through the store of the stack that the tests
 * started, which avoids the cost of password hashing, and through the public interface of a deployed installation.
 */
export interface Arranger {
  /** A verified account with a login. */
  account(options: PersonOptions): Promise<Account>;
  /** A team of the owner with the members; resolves with its ID. */
  team(owner: Account, members: readonly (readonly [Account, Role])[]): Promise<string>;
  /** Adds a member. */
  join(teamId: string, owner: Account, member: readonly [Account, Role]): Promise<void>;
  /** Changes the verified email address of the account. */
  changeEmail(account: Account, email: string): Promise<void>;
  close(): Promise<void>;
}
