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
  /** The username in lower case, for case-insensitive uniqueness. */
  readonly usernameKey: string;
  /** bcrypt hash; null for an account that only signs in through a provider. */
  readonly passwordHash: string | null;
  readonly avatarUrl: string | null;
  readonly tier: Tier;
  readonly tierExpiresAt: number | null;
  /** Additional seats beyond the ten of a TEAM owner, set by the operator. */
  readonly additionalMembers: number;
  readonly isVerified: boolean;
  /** Whether any address of the account was ever verified. Such an account is never replaced or swept. */
  readonly wasVerified: boolean;
  /** False while the account is disabled; all of its credentials are then invalid. */
  readonly isActive: boolean;
  readonly createdAt: number;
  readonly lastLogin: number | null;
  readonly termsAcceptedAt: number | null;
  /** The provider that created the account; null for a registered account. See `Identity` for its subject. */
  readonly oauthProvider: IdentityProvider | null;
}

/** Input for a new account. */
export type NewUser = Pick<
  User,
  'id' | 'email' | 'username' | 'passwordHash' | 'isVerified' | 'createdAt' | 'termsAcceptedAt'
> &
  Partial<Pick<User, 'oauthProvider'>>;

/** Creates an active FREE account without logins. The address must be in lower case. */
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
