import type { Consent } from '../../domain/accounts/consent.ts';
import { AppError } from '../../domain/errors.ts';
import type { User } from '../../domain/accounts/user.ts';
import {
  StaleVersion,
  UniqueKeyViolation,
  write,
  type Documents,
  type New,
  type Write,
} from '../../ports/documents.ts';
import { accountErasures } from '../../collections/account-erasures.ts';
import { auditOriginRemovals, type Audit } from '../../collections/audit-log.ts';
import { consents } from '../../collections/consents.ts';
import { voidMailTokens } from '../../collections/mail-tokens.ts';
import { retryStale } from '../../documents/retry-stale.ts';
import { findUserByEmail, findUserByUsername, users } from '../../collections/users.ts';

/** Who wants to have an address and a username; `id` is the account's own where it exists already. */
export type Claim = Pick<User, 'email' | 'usernameKey'> & { readonly id?: string };

/**
 * The writes that make room for the claim: an account that holds the address and was never verified gives way, with its
 * username, and `audit` records its deletion. Throws `conflict` when the address belongs to an account that was verified once, or the username is taken.
 * To be committed together with the claim, within `retryStale`; a race shows as StaleVersion, here already, or UniqueKeyViolation.
 */
export async function makeRoom(documents: Documents, claim: Claim, audit: Audit): Promise<Write[]> {
  const holder = await findUserByEmail(documents, claim.email);
  const isOther = holder !== null && holder.id !== claim.id;
  if (isOther && holder.wasVerified) throw new AppError('conflict', 'Email already registered');
  const namesake = await findUserByUsername(documents, claim.usernameKey);
  if (namesake !== null && namesake.id !== claim.id && namesake.id !== holder?.id) {
    // It came to the address between the two looks: who holds what has to be looked at anew.
    if (namesake.email === claim.email) throw new StaleVersion(users.name, namesake.id);
    throw new AppError('conflict', 'Username already taken');
  }
  return isOther ? removeUnverified(documents, holder, audit) : [];
}

/**
 * The writes that remove an account that was never verified, if it has not changed since it was read. Nobody ever logged
 * in to it, so that it owns nothing but its consents and mailed tokens. Of what the audit log has of those who tried to, more than
 * a commit should hold is left to the retention service. The deletion is recorded.
 */
export async function removeUnverified(documents: Documents, user: User, audit: Audit): Promise<Write[]> {
  const given = await documents.find(consents, { index: 'byUser', equals: { userId: user.id }, limit: 100 });
  const origins = await auditOriginRemovals(documents, user.id);
  const erasure = { id: user.id, email: '', requestedAt: user.createdAt };
  return [
    write.remove(users, user.id, user.version),
    ...given.map((consent) => write.remove(consents, consent.id)),
    ...(await voidMailTokens(documents, user.id)),
    ...origins.writes,
    ...(origins.hasMore ? [write.insert(accountErasures, erasure)] : []),
    ...audit({ action: 'account.deleted', subject: { id: user.id }, details: { reason: 'never_verified' } }),
  ];
}

/** Another account took the address or the username in between: `makeRoom` then tells which, or makes room anew. */
export const isTakenMeanwhile = (error: unknown): boolean =>
  error instanceof UniqueKeyViolation && error.collection === users.name;

/**
 * Stores a new account and its first consent, in the place of one with this address that was never verified. `also` is
 * written with it: its record in the audit log. Throws `conflict` as `makeRoom` does, also under races.
 */
export async function createAccount(
  documents: Documents,
  account: { user: New<User>; consent?: New<Consent>; also: readonly Write[] },
  audit: Audit,
): Promise<User> {
  const { user, consent, also } = account;
  await retryStale(async () => {
    const room = await makeRoom(documents, { email: user.email, usernameKey: user.usernameKey }, audit);
    await documents.commit([
      ...room,
      write.insert(users, user),
      ...(consent === undefined ? [] : [write.insert(consents, consent)]),
      ...also,
    ]);
  }, isTakenMeanwhile);
  return { ...user, version: 1 };
}
