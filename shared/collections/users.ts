import { usernameKey } from '../domain/accounts/account-rules.ts';
import { AppError } from '../domain/errors.ts';
import type { User } from '../domain/accounts/user.ts';
import type { Changes, Collection, Documents, Write } from '../ports/documents.ts';
import { retryStale } from '../documents/retry-stale.ts';
import { updateWith } from '../documents/update-with.ts';

export const users: Collection<User> = {
  name: 'users',
  fields: {
    email: 'text',
    username: 'text',
    usernameKey: 'text',
    passwordHash: 'text',
    avatarUrl: 'text',
    tier: 'text',
    tierExpiresAt: 'time',
    additionalMembers: 'integer',
    isVerified: 'boolean',
    wasVerified: 'boolean',
    isActive: 'boolean',
    createdAt: 'time',
    lastLogin: 'time',
    termsAcceptedAt: 'time',
    oauthProvider: 'text',
  },
  cached: { lateFields: ['lastLogin'] },
  uniqueKeys: { email: ['email'], username: ['usernameKey'] },
  indexes: { byVerified: ['wasVerified', 'createdAt'] },
};

/** The store's limit per lookup. */
const idsMax = 1_000;

/** Returns the account with the address, case-insensitive, or null. */
export async function findUserByEmail(documents: Documents, email: string): Promise<User | null> {
  const [user] = await documents.find(users, { index: 'email', equals: { email: email.toLowerCase() }, limit: 1 });
  return user ?? null;
}

/** Returns the account with the username, case-insensitive, or null. */
export async function findUserByUsername(documents: Documents, username: string): Promise<User | null> {
  const [user] = await documents.find(users, {
    index: 'username',
    equals: { usernameKey: usernameKey(username) },
    limit: 1,
  });
  return user ?? null;
}

/** Returns the existing accounts with these IDs, in any order. */
export async function findUsers(documents: Documents, ids: readonly string[]): Promise<User[]> {
  const found: User[] = [];
  for (let at = 0; at < ids.length; at += idsMax)
    found.push(...(await documents.getMany(users, ids.slice(at, at + idsMax))));
  return found;
}

/**
 * Changes the account with the address and commits the writes that `change` returns; retries after conflicts. Throws
 * `not_found` `User not found`.
 */
export function updateUserByEmail(
  documents: Documents,
  email: string,
  change: (user: User) => { set: Changes<User>; otherWrites: readonly Write[] },
): Promise<User> {
  return retryStale(async () => {
    const user = await findUserByEmail(documents, email);
    if (user === null) throw new AppError('not_found', 'User not found');
    return updateWith(documents, users, user, change(user));
  });
}
