import { usernameKey } from '@tocsin/shared/domain/accounts/account-rules.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import { newUser, type User } from '@tocsin/shared/domain/accounts/user.ts';
import { UniqueKeyViolation, write, type Write } from '@tocsin/shared/ports/documents.ts';
import { isTakenConcurrently, freeAddressAndUsername } from '@tocsin/shared/operations/accounts/accounts.ts';
import { findIdentity, identities } from '@tocsin/shared/collections/identities.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { findUserByEmail, users } from '@tocsin/shared/collections/users.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { auditAs, auditOfSystem } from '../../audit.ts';
import type { RequestContext } from '../../http/route.ts';
import { openLogin, type LoginTokens } from '../../access/logins.ts';
import { sendNotice } from '../../access/send-notice.ts';
import { chooseUsername } from './choose-username.ts';
import type { ProviderProfile } from './provider-profile.ts';
import { SignInFailed } from './sign-in-failed.ts';

/**
 * Creates a login for a person verified by a provider. The account is the one linked to the person;
 * otherwise the account with the verified email; otherwise a new one. Throws SignInFailed without an email that the
 * provider reports as verified, if the account's email is unverified, and if the account is
 * disabled.
 */
export async function signIn(
  deps: Pick<ApiDeps, 'accessTokens' | 'clock' | 'config' | 'directory' | 'engine' | 'log' | 'makeId' | 'wholeAddress'>,
  context: RequestContext,
  profile: ProviderProfile,
): Promise<{ user: User; tokens: LoginTokens }> {
  const userId = await retryStale(() => findOrTie(deps, context, profile), isLostRace);
  const shown = profile.avatarUrl === null ? {} : { avatarUrl: profile.avatarUrl };
  return openLogin(deps, context, { userId, through: profile.provider, requireActive: requireUsable, set: shown });
}

/** Returns the account of the person and links one at the first sign-in; notifies the owner of an existing account. */
async function findOrTie(
  deps: Pick<ApiDeps, 'clock' | 'config' | 'engine' | 'log' | 'makeId' | 'wholeAddress'>,
  context: RequestContext,
  profile: ProviderProfile,
): Promise<string> {
  const { documents } = deps.engine;
  const known = await findIdentity(documents, profile);
  if (known !== null) return known.userId;
  if (profile.verifiedEmail === null) throw new SignInFailed('email_not_verified');
  const holder = await findUserByEmail(documents, profile.verifiedEmail);
  if (holder !== null && holder.wasVerified) {
    const { identityId, writes } = tie(deps, context, profile, holder.id);
    await documents.commit([write.require(users, requireUsable(holder)), ...writes]);
    await sendNotice(deps, holder.email, { kind: 'identity-linked', identityId });
    return holder.id;
  }
  return makeAccount(deps, context, {
    ...profile,
    verifiedEmail: profile.verifiedEmail,
    replacedId: holder?.id ?? null,
  });
}

/** Creates an account, replacing an unverified account with the same email. */
async function makeAccount(
  deps: Pick<ApiDeps, 'clock' | 'engine' | 'makeId' | 'wholeAddress'>,
  context: RequestContext,
  from: ProviderProfile & { verifiedEmail: string; replacedId: string | null },
): Promise<string> {
  const { documents } = deps.engine;
  const username = await chooseUsername(documents, from.verifiedEmail, from.replacedId);
  const user = newUser({
    id: deps.makeId(),
    email: from.verifiedEmail,
    username,
    passwordHash: null,
    isVerified: true,
    createdAt: deps.clock(),
    termsAcceptedAt: null,
    oauthProvider: from.provider,
  });
  const room = await freeAddressAndUsername(
    documents,
    { email: user.email, usernameKey: usernameKey(username) },
    auditOfSystem(deps),
  );
  const audit = auditAs(deps, context, { actor: user.id, through: from.provider });
  const recorded = audit({ action: 'account.created', subject: { id: user.id }, details: { method: from.provider } });
  const { writes } = tie(deps, context, from, user.id);
  await documents.commit([...room, write.insert(users, user), ...recorded, ...writes]);
  return user.id;
}

function tie(
  deps: Pick<ApiDeps, 'clock' | 'makeId' | 'wholeAddress'>,
  context: RequestContext,
  { provider, subject }: ProviderProfile,
  userId: string,
): { identityId: string; writes: Write[] } {
  const audit = auditAs(deps, context, { actor: userId, through: provider });
  const identityId = deps.makeId();
  return {
    identityId,
    writes: [
      write.insert(identities, { id: identityId, provider, subject, userId, linkedAt: deps.clock() }),
      ...audit({ action: 'identity.linked', subject: { id: userId }, details: { provider } }),
    ],
  };
}

function requireUsable(user: User | null): User {
  if (user === null || !user.isActive) throw new SignInFailed('account_disabled', { account: user });
  if (!user.isVerified) throw new SignInFailed('email_not_verified', { account: user });
  return user;
}

/**
 * Whether concurrent first sign-ins of a person collided or a name was taken meanwhile: between the lookup of the
 * email and `freeAddressAndUsername` (its `conflict`), or before the commit.
 */
const isLostRace = (error: unknown): boolean =>
  isTakenConcurrently(error) ||
  (error instanceof UniqueKeyViolation && error.collection === identities.name) ||
  (error instanceof AppError && error.code === 'conflict');
