import type { ApiKey, LoginSession, TopicToken } from '../domain/accounts/credentials.ts';
import type { Collection, Documents } from '../ports/documents.ts';

export const apiKeys: Collection<ApiKey> = {
  name: 'apiKeys',
  fields: {
    userId: 'text',
    name: 'text',
    description: 'text',
    secretHash: 'text',
    keyPrefix: 'text',
    scopes: 'json',
    isActive: 'boolean',
    createdAt: 'time',
    expiresAt: 'time',
    lastUsedAt: 'time',
    requestCount: 'integer',
  },
  cached: { lateFields: ['lastUsedAt', 'requestCount'] },
  uniqueKeys: { secret: ['secretHash'] },
  indexes: { byUser: ['userId', 'createdAt'] },
};

export const topicTokens: Collection<TopicToken> = {
  name: 'topicTokens',
  fields: {
    topicId: 'text',
    createdBy: 'text',
    name: 'text',
    secretHash: 'text',
    permissions: 'json',
    createdAt: 'time',
    expiresAt: 'time',
    lastUsedAt: 'time',
  },
  cached: { lateFields: ['lastUsedAt'] },
  uniqueKeys: { secret: ['secretHash'] },
  indexes: { byTopic: ['topicId', 'createdAt'], byCreator: ['createdBy', 'createdAt'] },
};

export const loginSessions: Collection<LoginSession> = {
  name: 'loginSessions',
  fields: {
    userId: 'text',
    refreshHash: 'text',
    refreshedAt: 'time',
    refresherHash: 'text',
    address: 'text',
    userAgent: 'text',
    createdAt: 'time',
    expiresAt: 'time',
  },
  cached: { lateFields: ['refreshHash', 'refreshedAt', 'refresherHash', 'address', 'userAgent', 'expiresAt'] },
  uniqueKeys: {},
  indexes: { byUser: ['userId', 'createdAt'], byExpiry: ['expiresAt'] },
};

/** Logins per read: more than a person uses. */
const listedLoginsMax = 900;

/** Returns the account's newest logins. */
export function findLogins(documents: Documents, userId: string): Promise<LoginSession[]> {
  return documents.find(loginSessions, {
    index: 'byUser',
    equals: { userId },
    descending: true,
    limit: listedLoginsMax,
  });
}

/** The maximum number of keys per account. */
export const apiKeysMax = 100;

/** Returns the account's keys, newest first. */
export function findApiKeys(documents: Documents, userId: string): Promise<ApiKey[]> {
  return documents.find(apiKeys, { index: 'byUser', equals: { userId }, descending: true, limit: apiKeysMax });
}

/** Returns the key with this hash, or null. */
export async function findApiKeyBySecret(documents: Documents, secretHash: string): Promise<ApiKey | null> {
  const [key] = await documents.find(apiKeys, { index: 'secret', equals: { secretHash }, limit: 1 });
  return key ?? null;
}

/** Returns the topic token with this hash, or null. */
export async function findTopicTokenBySecret(documents: Documents, secretHash: string): Promise<TopicToken | null> {
  const [token] = await documents.find(topicTokens, { index: 'secret', equals: { secretHash }, limit: 1 });
  return token ?? null;
}
