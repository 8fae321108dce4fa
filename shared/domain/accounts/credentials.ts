/** The scopes of an API key. `*` grants all of them. */
export const scopes = [
  '*',
  'publish',
  'subscribe',
  'topics:read',
  'topics:write',
  'account:read',
  'account:write',
  'keys:read',
  'keys:write',
] as const;
export type Scope = (typeof scopes)[number];

export type TopicPermission = 'read' | 'write';

/** An API key: access to the account, limited by scopes. Only the hash of the secret is stored. */
export interface ApiKey {
  readonly id: string;
  readonly version: number;
  readonly userId: string;
  readonly name: string;
  readonly description: string | null;
  /** SHA-256 of the whole key, hex; unique. */
  readonly secretHash: string;
  /** The first 12 characters of the key. */
  readonly keyPrefix: string;
  readonly scopes: readonly Scope[];
  readonly isActive: boolean;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly lastUsedAt: number | null;
  readonly requestCount: number;
}

/** Length limits of a credential's texts, in code points. */
export const credentialLimits = { name: 80, description: 1_000 } as const;

/** The length of the key prefix that lists show, by which the owner recognizes the key. */
const shownPrefixLength = 12;

/** Input for a new key. */
export type NewApiKey = Pick<
  ApiKey,
  'id' | 'userId' | 'name' | 'description' | 'secretHash' | 'scopes' | 'createdAt' | 'expiresAt'
>;

/** Creates an active, unused key. `secret` is the complete key. */
export function newApiKey(secret: string, from: NewApiKey): ApiKey {
  return {
    ...from,
    version: 1,
    keyPrefix: secret.slice(0, shownPrefixLength),
    isActive: true,
    lastUsedAt: null,
    requestCount: 0,
  };
}

/** A topic token: access to one topic. Only the hash of the secret is stored. */
export interface TopicToken {
  readonly id: string;
  readonly version: number;
  readonly topicId: string;
  readonly createdBy: string;
  readonly name: string;
  readonly secretHash: string;
  readonly permissions: readonly TopicPermission[];
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly lastUsedAt: number | null;
}

/**
 * A login and all tokens refreshed from it. Access tokens contain its ID and become invalid with it. Reusing a
 * refresh token ends the login, unless its client only repeats the last refresh. Ended logins are removed.
 */
export interface LoginSession {
  readonly id: string;
  readonly version: number;
  readonly userId: string;
  /** SHA-256 of the current refresh token, hex. */
  readonly refreshHash: string;
  /** When and by which client the token was last refreshed (SHA-256 of the former token and the client, hex). */
  readonly refreshedAt: number | null;
  readonly refresherHash: string | null;
  /** The client of the login or of its last refresh. Null for logins of older versions. */
  readonly address: string | null;
  readonly userAgent: string | null;
  readonly createdAt: number;
  /** Expiry of the refresh token. */
  readonly expiresAt: number;
}

/** The longest stored `User-Agent`, in characters. */
export const userAgentLengthMax = 300;

/** A reference to a credential without its secret, used to authorize it again. */
export type CredentialRef =
  /** An access token; `expiresAt` is its expiry in milliseconds since the epoch. */
  | { readonly kind: 'login'; readonly userId: string; readonly sessionId: string; readonly expiresAt: number }
  | { readonly kind: 'api-key'; readonly secretHash: string }
  | { readonly kind: 'topic-token'; readonly secretHash: string };

export function hasExpired(key: Pick<ApiKey, 'expiresAt'>, now: number): boolean {
  return key.expiresAt !== null && key.expiresAt <= now;
}

export const apiKeyPrefix = 'toc_';
export const topicTokenPrefix = 'tk_';

/** Whether the granted scopes include the required one. */
export function hasScope(granted: readonly Scope[], needed: Scope): boolean {
  return granted.includes('*') || granted.includes(needed);
}
