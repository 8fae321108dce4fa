import type { AccountCaller, Caller, TopicTokenCaller } from '@tocsin/shared/domain/accounts/caller.ts';
import {
  apiKeyPrefix,
  topicTokenPrefix,
  type CredentialRef,
  type TopicToken,
} from '@tocsin/shared/domain/accounts/credentials.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import { managesTopic } from '@tocsin/shared/domain/topics/access.ts';
import { tierInForce } from '@tocsin/shared/domain/accounts/tiers.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import { hashSecret } from '@tocsin/shared/platform/secrets.ts';
import type { AccessToken, AccessTokens } from './access-tokens.ts';
import type { Directory } from '../directory/directory.ts';

export interface AuthenticateDeps {
  readonly directory: Directory;
  readonly accessTokens: AccessTokens;
  readonly clock: Clock;
}

/** The places of a credential. Only the first that is present counts. */
export interface CredentialSources {
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly query: URLSearchParams;
  /** On a topic's routes `X-Topic-Token` comes first, elsewhere last. */
  readonly isTopicRoute: boolean;
  /** Streams also read the query parameter `token`, because browsers cannot set headers there. */
  readonly isStream: boolean;
}

type Credential =
  | { readonly kind: 'bearer'; readonly secret: string }
  | { readonly kind: 'api-key'; readonly secret: string }
  | { readonly kind: 'topic-token'; readonly secret: string };

const invalid = () => new AppError('unauthenticated', 'Could not validate credentials');
const expired = () => new AppError('unauthenticated', 'Token has expired');

/**
 * Returns the caller; null without a credential. Throws `unauthenticated` if the credential is invalid, expired or
 * revoked or its account is disabled, and `unavailable` if it is not cached and the store is down.
 */
export async function authenticate(
  deps: AuthenticateDeps,
  sources: CredentialSources,
): Promise<AccountCaller | TopicTokenCaller | null> {
  const credential = await readCredential(deps, sources);
  return credential === null ? null : callerBehind(deps, credential);
}

/**
 * Returns the credential of the request, or null. Throws `unauthenticated` if it is malformed. Checks only signature
 * and expiry of an access token; `callerBehind` checks the rest.
 */
export async function readCredential(
  deps: Pick<AuthenticateDeps, 'accessTokens'>,
  sources: CredentialSources,
): Promise<CredentialRef | null> {
  const credential = firstCredential(sources);
  if (credential === null) return null;
  const { kind, secret } = credential;
  // The prefix of a bearer determines its kind.
  const isBearer = kind === 'bearer';
  if (kind === 'api-key' || (isBearer && secret.startsWith(apiKeyPrefix)))
    return hashed('api-key', secret, apiKeyPrefix);
  if (kind === 'topic-token' || (isBearer && secret.startsWith(topicTokenPrefix)))
    return hashed('topic-token', secret, topicTokenPrefix);
  return { kind: 'login', ...(await deps.accessTokens.verify(secret)) };
}

function hashed(kind: 'api-key' | 'topic-token', secret: string, prefix: string): CredentialRef {
  if (!secret.startsWith(prefix)) throw invalid();
  return { kind, secretHash: hashSecret(secret) };
}

/** Returns the current caller of a credential. Throws like `authenticate`. */
export function callerBehind(
  deps: AuthenticateDeps,
  credential: CredentialRef,
): Promise<AccountCaller | TopicTokenCaller> {
  switch (credential.kind) {
    case 'login':
      return byLogin(deps, credential);
    case 'api-key':
      return byApiKey(deps, credential.secretHash);
    case 'topic-token':
      return byTopicToken(deps, credential.secretHash);
  }
}

function firstCredential(sources: CredentialSources): Credential | null {
  const topicToken = header(sources, 'x-topic-token');
  if (sources.isTopicRoute && topicToken !== '') return { kind: 'topic-token', secret: topicToken };
  const authorization = header(sources, 'authorization');
  if (authorization !== '') return parseAuthorization(authorization);
  const apiKey = header(sources, 'x-api-key');
  if (apiKey !== '') return { kind: 'api-key', secret: apiKey };
  const token = sources.isStream ? (sources.query.get('token') ?? '') : '';
  if (token !== '') return { kind: 'bearer', secret: token };
  const queryKey = sources.query.get('api_key') ?? '';
  if (queryKey !== '') return { kind: 'api-key', secret: queryKey };
  const auth = sources.query.get('auth') ?? '';
  if (auth !== '') return parseAuthorization(Buffer.from(auth, 'base64url').toString('utf8'));
  return topicToken === '' ? null : { kind: 'topic-token', secret: topicToken };
}

function header(sources: CredentialSources, name: string): string {
  const value = sources.headers[name];
  return (Array.isArray(value) ? (value[0] ?? '') : (value ?? '')).trim();
}

/** `Bearer <credential>`, or `Basic` with the credential as the password (RFC 6750, RFC 7617). */
function parseAuthorization(value: string): Credential {
  const [scheme = '', rest = ''] = value.split(/ +(.*)/s, 2);
  if (/^bearer$/i.test(scheme) && rest !== '') return { kind: 'bearer', secret: rest.trim() };
  if (!/^basic$/i.test(scheme)) throw invalid();
  const decoded = Buffer.from(rest, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  const password = decoded.slice(colon + 1);
  if (colon < 0 || password === '') throw invalid();
  return { kind: 'bearer', secret: password };
}

async function byLogin(deps: AuthenticateDeps, access: AccessToken): Promise<AccountCaller> {
  const session = await deps.directory.session(access.sessionId);
  if (session === null || session.userId !== access.userId) throw invalid();
  return account(deps, {
    userId: access.userId,
    name: null,
    scopes: null,
    credentialId: session.id,
    expiresAt: access.expiresAt,
  });
}

async function byApiKey(deps: AuthenticateDeps, secretHash: string): Promise<AccountCaller> {
  const key = await deps.directory.apiKey(secretHash);
  if (key === null || !key.isActive) throw invalid();
  if (key.expiresAt !== null && key.expiresAt <= deps.clock()) throw expired();
  return account(deps, {
    userId: key.userId,
    name: key.name,
    scopes: key.scopes,
    credentialId: key.id,
    expiresAt: key.expiresAt,
  });
}

async function byTopicToken(deps: AuthenticateDeps, secretHash: string): Promise<TopicTokenCaller> {
  const token = await deps.directory.topicToken(secretHash);
  if (token === null) throw invalid();
  if (token.expiresAt !== null && token.expiresAt <= deps.clock()) throw expired();
  await requireStanding(deps, token);
  return {
    kind: 'topic-token',
    topicId: token.topicId,
    name: token.name,
    permissions: token.permissions,
    credentialId: token.id,
    expiresAt: token.expiresAt,
  };
}

/**
 * A topic token is valid while its creator manages the topic. It is invalid while its creator or the topic's owner is
 * disabled.
 */
async function requireStanding(deps: AuthenticateDeps, token: TopicToken): Promise<void> {
  const topic = await deps.directory.topic(token.topicId);
  if (topic === null) return; // the lookup of the topic reports it
  for (const userId of new Set([topic.ownerId, token.createdBy])) {
    const user = await deps.directory.user(userId);
    if (user === null || !user.isActive) throw invalid();
  }
  const role = await deps.directory.role(topic.teamId, token.createdBy);
  if (!managesTopic(token.createdBy, topic, role)) throw invalid();
}

/** `name`: null is the username. */
async function account(
  deps: AuthenticateDeps,
  by: Omit<AccountCaller, 'kind' | 'tier' | 'name'> & { readonly name: string | null },
): Promise<AccountCaller> {
  const user = await deps.directory.user(by.userId);
  if (user === null || !user.isActive) throw invalid();
  return { kind: 'account', tier: tierInForce(user, deps.clock()), ...by, name: by.name ?? user.username };
}

/** The caller of a request without a credential. */
export function anonymous(address: string): Caller {
  return { kind: 'anonymous', address };
}
