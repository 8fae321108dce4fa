import { newUser, type User } from './user.ts';

/** How long a registration can be confirmed, with renewed links. An account that was never verified is removed then. */
export const registrationLifetimeMs = 7 * 24 * 3_600_000;

/**
 * A registration whose emailed link was not opened yet. Several may wait for one address; the first that is opened
 * wins.
 */
export interface Registration {
  /** The ID of its account, which a newer registration of the address replaces. */
  readonly id: string;
  readonly version: number;
  readonly email: string;
  readonly username: string;
  readonly usernameKey: string;
  readonly passwordHash: string;
  /** The version of the accepted terms. */
  readonly termsVersion: string;
  readonly createdAt: number;
  /** SHA-256 of the newest emailed token, hex; null until the email is sent. */
  readonly tokenHash: string | null;
  readonly tokenExpiresAt: number | null;
}

/** Returns the account of a registration. */
export function registeredUser(
  registration: Omit<Registration, 'version'>,
  isVerified: boolean,
): Omit<User, 'version'> {
  const { id, email, username, passwordHash, createdAt } = registration;
  return newUser({ id, email, username, passwordHash, isVerified, createdAt, termsAcceptedAt: createdAt });
}
