import type { User } from '../domain/user.ts';
import type { Collection, Documents } from '../ports/documents.ts';

export const users: Collection<User> = {
  name: 'users',
  fields: {
    email: 'text', username: 'text', usernameKey: 'text', passwordHash: 'text', avatarUrl: 'text', tier: 'text',
    tierExpiresAt: 'time', additionalMembers: 'integer', isVerified: 'boolean', wasVerified: 'boolean', isActive: 'boolean',
    createdAt: 'time', lastLogin: 'time', termsAcceptedAt: 'time', oauthProvider: 'text', oauthSubject: 'text',
  },
  uniqueKeys: { email: ['email'], username: ['usernameKey'], oauth: ['oauthProvider', 'oauthSubject'] },
  indexes: { byVerified: ['wasVerified', 'createdAt'] },
};

/** The account that holds the address, in any case, or null. */
export async function findUserByEmail(documents: Documents, email: string): Promise<User | null> {
  const [user] = await documents.find(users, { index: 'email', equals: { email: email.toLowerCase() }, limit: 1 });
  return user ?? null;
}

/** The account with the username, in any case, or null. */
export async function findUserByUsername(documents: Documents, username: string): Promise<User | null> {
  const [user] = await documents.find(users, { index: 'username', equals: { usernameKey: username.toLowerCase() }, limit: 1 });
  return user ?? null;
}
