import { userAgentLengthMax, type LoginSession } from '@tocsin/shared/domain/accounts/credentials.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { IdentityProvider } from '@tocsin/shared/domain/accounts/identity.ts';
import type { User } from '@tocsin/shared/domain/accounts/user.ts';
import { deriveSecret, hashSecret, isSignedText, makeSecret, signText } from '@tocsin/shared/platform/secrets.ts';
import { UniqueKeyViolation, write, type Changes, type New, type Write } from '@tocsin/shared/ports/documents.ts';
import {
  changeAndEndLogins as storeChange,
  type DecidedChange,
} from '@tocsin/shared/operations/accounts/change-and-end-logins.ts';
import { loginSessions } from '@tocsin/shared/collections/credentials.ts';
import { knownNetworks } from '@tocsin/shared/collections/known-networks.ts';
import { rememberNetwork } from './remember-network.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { updateWith } from '@tocsin/shared/documents/update-with.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { z } from 'zod';
import { accessTokenSeconds, refreshTokenMs } from '../http/access-tokens.ts';
import { networkOf } from '../http/client-address.ts';
import type { ApiDeps } from '../api-deps.ts';
import { auditAs } from '../audit.ts';
import type { RequestContext } from '../http/route.ts';
import { sendNotice } from './send-notice.ts';

/** The pair of tokens returned by a login, a refresh or a password change. */
export const loginTokensSchema = z.object({
  access_token: z.string(),
  refresh_token: z.string(),
  token_type: z.literal('bearer'),
  expires_in: z.number().int(),
});
export type LoginTokens = z.infer<typeof loginTokensSchema>;

const invalid = (cause?: unknown) => new AppError('unauthenticated', 'Could not validate credentials', { cause });

/** How long a client can repeat a refresh whose response was lost. */
const repeatableMs = 10_000;

const refreshTokenForm = /^(rt_([0-9a-f-]{36})\.[A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{22})$/;

/**
 * `rt_<login>.<secret>.<proof>`. The proof shows that the server issued the token: only an issued token can have been
 * used before and ends its login, while a forged or truncated one has no effect.
 */
function refreshTokenOf(key: string, sessionId: string, secret: string): string {
  const text = `rt_${sessionId}.${secret}`;
  return `${text}.${signText(key, 'refresh-token', text)}`;
}

/**
 * The next refresh token. It is derived, so that a repeated refresh returns it again although only its hash is stored.
 * The first one counts; the others belong to older signing secrets.
 */
function successorsOf({ engine }: Pick<ApiDeps, 'engine'>, sessionId: string, refreshToken: string): readonly string[] {
  return engine.jwtSecrets.map((key) =>
    refreshTokenOf(key, sessionId, deriveSecret(key, 'refresh-successor', refreshToken)),
  );
}

/** Returns the login of the token; null if the server did not issue it. */
function sessionOfToken({ engine }: Pick<ApiDeps, 'engine'>, refreshToken: string): string | null {
  const [, text, sessionId, proof] = refreshTokenForm.exec(refreshToken) ?? [];
  const isOurs = text !== undefined && isSignedText(engine.jwtSecrets, 'refresh-token', { text, proof: proof! });
  return isOurs ? sessionId! : null;
}

/** A new login, which exists once `insert` is committed. */
export interface NewLogin {
  readonly id: string;
  readonly insert: Write;
  readonly tokens: () => Promise<LoginTokens>;
}

/** Prepares a login of the account from the client of the request. */
export function newLogin(
  deps: Pick<ApiDeps, 'accessTokens' | 'clock' | 'config' | 'engine' | 'makeId' | 'wholeAddress'>,
  context: Pick<RequestContext, 'request'>,
  userId: string,
): NewLogin {
  const id = deps.makeId();
  const refreshToken = refreshTokenOf(deps.engine.jwtSecrets[0]!, id, makeSecret());
  const now = deps.clock();
  const session: New<LoginSession> = {
    id,
    userId,
    refreshHash: hashSecret(refreshToken),
    refreshedAt: null,
    refresherHash: null,
    ...clientOf(deps, context),
    createdAt: now,
    expiresAt: refreshExpiry(deps, { createdAt: now }, now),
  };
  return { id, insert: write.insert(loginSessions, session), tokens: () => tokensOf(deps, session, refreshToken) };
}

function clientOf(
  deps: Pick<ApiDeps, 'wholeAddress'>,
  { request }: Pick<RequestContext, 'request'>,
): Pick<LoginSession, 'address' | 'userAgent'> {
  return {
    address: deps.wholeAddress(request),
    userAgent: request.headers['user-agent']?.slice(0, userAgentLengthMax) ?? null,
  };
}

const dayMs = 86_400_000;

/** The end of a login, however often it is refreshed. */
const loginEnd = (deps: Pick<ApiDeps, 'config'>, { createdAt }: Pick<LoginSession, 'createdAt'>): number =>
  createdAt + deps.config.LOGIN_LIFETIME_DAYS * dayMs;

const refreshExpiry = (deps: Pick<ApiDeps, 'config'>, session: Pick<LoginSession, 'createdAt'>, now: number): number =>
  Math.min(now + refreshTokenMs, loginEnd(deps, session));

async function tokensOf(
  deps: Pick<ApiDeps, 'accessTokens' | 'config'>,
  session: New<LoginSession>,
  refreshToken: string,
): Promise<LoginTokens> {
  const issuedAt = session.refreshedAt ?? session.createdAt;
  const lifetimeSeconds = Math.min(accessTokenSeconds, Math.ceil((loginEnd(deps, session) - issuedAt) / 1_000));
  return {
    access_token: await deps.accessTokens.sign({
      userId: session.userId,
      sessionId: session.id,
      id: deriveSecret(refreshToken, 'access-token', session.id),
      issuedAt,
      lifetimeSeconds,
    }),
    refresh_token: refreshToken,
    token_type: 'bearer',
    expires_in: lifetimeSeconds,
  };
}

/** The account and the method of a login. */
export interface Opening {
  readonly userId: string;
  readonly through: 'password' | IdentityProvider;
  /**
   * Called with the current account (null: deleted). Resolves with it or throws, so that a concurrently changed
   * password is refused.
   */
  readonly requireActive: (user: User | null) => User;
  readonly set?: Changes<User>;
}

const isRememberedConcurrently = (error: unknown): boolean =>
  error instanceof UniqueKeyViolation && error.collection === knownNetworks.name;

/**
 * Creates a login, sets `last_login` and the given changes, and writes the audit entry in one commit. Emails the owner
 * about a login from a network without earlier logins.
 */
export async function openLogin(
  deps: Pick<ApiDeps, 'accessTokens' | 'clock' | 'config' | 'directory' | 'engine' | 'log' | 'makeId' | 'wholeAddress'>,
  context: RequestContext,
  opening: Opening,
): Promise<{ user: User; tokens: LoginTokens }> {
  const { documents } = deps.engine;
  const { userId, through } = opening;
  const login = newLogin(deps, context, userId);
  const set = { ...opening.set, lastLogin: deps.clock() };
  const recorded = auditAs(deps, context, { actor: userId, through, credentialId: login.id })({
    action: 'login.succeeded',
    subject: { id: userId },
    details: { method: through },
  });
  const network = networkOf(deps.wholeAddress(context.request));
  const { user, isNew } = await retryStale(async () => {
    const found = opening.requireActive(await documents.get(users, userId));
    const remembered = await rememberNetwork(documents, { userId, network, now: deps.clock() });
    const otherWrites = [login.insert, ...remembered.writes, ...recorded];
    return { user: await updateWith(documents, users, found, { set, otherWrites }), isNew: remembered.isNew };
  }, isRememberedConcurrently);
  await deps.directory.changed({ kind: 'user', userId });
  if (isNew) await sendNotice(deps, user.email, { kind: 'new-login', sessionId: login.id });
  return { user, tokens: await login.tokens() };
}

/**
 * Exchanges a refresh token for a new pair. Each token works once: reuse ends the whole login, because either the owner
 * or a thief holds the newer one. A client that repeats its refresh within 10 s, because the response was lost, gets
 * the same pair. Throws `unauthenticated`: `Token has expired`, or `Could not validate credentials` for anything else.
 */
export async function refreshLogin(
  deps: Pick<ApiDeps, 'accessTokens' | 'clock' | 'config' | 'directory' | 'engine' | 'log' | 'makeId' | 'wholeAddress'>,
  context: RequestContext,
  refreshToken: string,
): Promise<LoginTokens> {
  const sessionId = sessionOfToken(deps, refreshToken);
  if (sessionId === null) throw invalid();
  const successors = successorsOf(deps, sessionId, refreshToken);
  const refresherHash = hashSecret(`${refreshToken} ${context.address} ${context.request.headers['user-agent'] ?? ''}`);
  const session = await retryStale(() => rotate(deps, context, { sessionId, refreshToken, successors, refresherHash }));
  return tokensOf(deps, session, issuedAs(session, successors)!);
}

/** Returns the token among these that the login accepts next. */
const issuedAs = ({ refreshHash }: LoginSession, tokens: readonly string[]): string | undefined =>
  tokens.find((token) => hashSecret(token) === refreshHash);

interface Exchange {
  readonly sessionId: string;
  readonly refreshToken: string;
  readonly successors: readonly string[];
  readonly refresherHash: string;
}

/** Whether the client repeats the last refresh of the login. */
function isRepeated(session: LoginSession, { successors, refresherHash }: Exchange, now: number): boolean {
  return (
    issuedAs(session, successors) !== undefined &&
    session.refresherHash === refresherHash &&
    session.refreshedAt !== null &&
    now - session.refreshedAt <= repeatableMs
  );
}

async function rotate(
  deps: Pick<ApiDeps, 'clock' | 'config' | 'directory' | 'engine' | 'log' | 'makeId' | 'wholeAddress'>,
  context: RequestContext,
  exchange: Exchange,
): Promise<LoginSession> {
  const { documents } = deps.engine;
  const session = await documents.get(loginSessions, exchange.sessionId);
  if (session === null) throw invalid();
  const now = deps.clock();
  const repeats = isRepeated(session, exchange, now);
  if (session.refreshHash !== hashSecret(exchange.refreshToken) && !repeats) {
    const audit = auditAs(deps, context, { actor: 'anonymous', through: 'refresh_token' });
    await documents.commit([
      write.remove(loginSessions, session.id, session.version),
      ...audit({ action: 'login.revoked', subject: { id: session.userId }, details: { session_id: session.id } }),
    ]);
    await deps.directory.changed({ kind: 'session', sessionId: session.id });
    deps.log.warn({ userId: session.userId, sessionId: session.id }, 'refresh token reused, ending its login');
    throw invalid();
  }
  if (session.expiresAt <= now) throw new AppError('unauthenticated', 'Token has expired');
  const user = await documents.get(users, session.userId);
  if (user === null || !user.isActive) throw invalid();
  if (repeats) return session;
  // StaleVersion: the token was used or the login ended concurrently. Evaluate the current state again.
  return documents.update(loginSessions, session, {
    refreshHash: hashSecret(exchange.successors[0]!),
    refreshedAt: now,
    refresherHash: exchange.refresherHash,
    ...clientOf(deps, context),
    expiresAt: refreshExpiry(deps, session, now),
  });
}

/** Like the store's `changeAndEndLogins`, and notifies the nodes. */
export async function changeAndEndLogins(
  deps: Pick<ApiDeps, 'directory' | 'engine'>,
  decide: () => Promise<DecidedChange>,
): Promise<User> {
  const { user, changes } = await storeChange(deps.engine.documents, decide);
  await deps.directory.changed(...changes);
  return user;
}
