import { usernameKey } from './account-rules.ts';
import type { IdentityProvider } from './identity.ts';
import type { Tier } from './tiers.ts';

/** An account. Times are milliseconds since the epoch. */
export interface User {
  readonly id: string;
  readonly version: number;
  /** Lower-cased; unique. */
  readonly email: string;
  readonly username: string;
  /** The username in lower case: unique without regard to case. */
  readonly usernameKey: string;
  /** bcrypt; null for an account that signs in through a provider only. */
  readonly passwordHash: string | null;
  readonly avatarUrl: string | null;
  readonly tier: Tier;
  readonly tierExpiresAt: number | null;
  /** Seats beyond the ten that a TEAM owner has, set by the operator. */
  readonly additionalMembers: number;
  readonly isVerified: boolean;
  /** Whether any address of the account was ever verified: such an account is never replaced or swept. */
  readonly wasVerified: boolean;
  /** False while the operator has disabled the account: every credential of it is then invalid. */
  readonly isActive: boolean;
  readonly createdAt: number;
  readonly lastLogin: number | null;
  readonly termsAcceptedAt: number | null;
  /** The provider that made the account; null for one that registered. Who it is there: `Identity`. */
  readonly oauthProvider: IdentityProvider | null;
}

/** What a new account is made from; everything else begins the same for all. */
export type NewUser = Pick<
  User,
  'id' | 'email' | 'username' | 'passwordHash' | 'isVerified' | 'createdAt' | 'termsAcceptedAt'
> &
  Partial<Pick<User, 'oauthProvider'>>;

/** A new account: FREE, active, and never logged in. The address must be lower-cased. */
export function newUser(from: NewUser): Omit<User, 'version'> {
  return {
    usernameKey: usernameKey(from.username),
    avatarUrl: null,
    tier: 'FREE',
    tierExpiresAt: null,
    additionalMembers: 0,
    wasVerified: from.isVerified,
    isActive: true,
    lastLogin: null,
    oauthProvider: null,
    ...from,
  };
}
