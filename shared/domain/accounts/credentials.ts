/** What an API key may do. `*` is everything. */
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

/** An API key: the whole account, limited by scopes. Only the hash of the secret is stored. */
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

/** How long the texts of a credential may be, in code points. */
export const credentialLimits = { name: 80, description: 1_000 } as const;

/** How much of a key lists show, so that its holder knows which one it is. */
const shownCharacters = 12;

/** What a new key is made from; everything else begins the same for all. */
export type NewApiKey = Pick<
  ApiKey,
  'id' | 'userId' | 'name' | 'description' | 'secretHash' | 'scopes' | 'createdAt' | 'expiresAt'
>;

/** A new key, active and never used. `secret` is the whole key. */
export function newApiKey(secret: string, from: NewApiKey): ApiKey {
  return {
    ...from,
    version: 1,
    keyPrefix: secret.slice(0, shownCharacters),
    isActive: true,
    lastUsedAt: null,
    requestCount: 0,
  };
}

/** A topic access token: one topic. Only the hash of the secret is stored. */
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
 * A login and all the tokens refreshed from it. Access tokens name it and die with it; a refresh token is accepted
 * once, a second use ends the login. A login that ended is gone.
 */
export interface LoginSession {
  readonly id: string;
  readonly version: number;
  readonly userId: string;
  /** SHA-256 of the refresh token that is valid now, hex. */
  readonly refreshHash: string;
  readonly createdAt: number;
  /** When the refresh token ends. */
  readonly expiresAt: number;
}

/** A credential without its secret: what it takes to judge it again. */
export type CredentialRef =
  /** An access token; `expiresAt` is its own end, in milliseconds since the epoch. */
  | { readonly kind: 'login'; readonly userId: string; readonly sessionId: string; readonly expiresAt: number }
  | { readonly kind: 'api-key'; readonly secretHash: string }
  | { readonly kind: 'topic-token'; readonly secretHash: string };

export function hasExpired(key: Pick<ApiKey, 'expiresAt'>, now: number): boolean {
  return key.expiresAt !== null && key.expiresAt <= now;
}

export const apiKeyPrefix = 'toc_';
export const topicTokenPrefix = 'tk_';

/** Whether the granted scopes cover the needed one. */
export function hasScope(granted: readonly Scope[], needed: Scope): boolean {
  return granted.includes('*') || granted.includes(needed);
}
