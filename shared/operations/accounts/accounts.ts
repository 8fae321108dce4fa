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
import { invalidateMailTokens } from '../../collections/mail-tokens.ts';
import { isUsernameReserved } from '../../collections/registrations.ts';
import { retryStale } from '../../documents/retry-stale.ts';
import { findUserByEmail, findUserByUsername, users } from '../../collections/users.ts';

/** A claim to an address and a username. `id` is the ID of the claiming account if it exists. */
export type Claim = Pick<User, 'email' | 'usernameKey'> & { readonly id?: string };

/**
 * Returns the writes that free the address and username: they remove an account that holds the address and was never
 * verified; `audit` records the deletion. Throws `conflict` if a once-verified account has the address, or an account
 * or a registration for another address has the username. Commit them with the claim, within `retryStale`. A race
 * causes StaleVersion (also from this function) or UniqueKeyViolation.
 */
export async function freeAddressAndUsername(documents: Documents, claim: Claim, audit: Audit): Promise<Write[]> {
  const addressOwner = await findUserByEmail(documents, claim.email);
  const isOtherAccount = addressOwner !== null && addressOwner.id !== claim.id;
  if (isOtherAccount && addressOwner.wasVerified) throw new AppError('conflict', 'Email already registered');
  const usernameOwner = await findUserByUsername(documents, claim.usernameKey);
  if (usernameOwner !== null && usernameOwner.id !== claim.id && usernameOwner.id !== addressOwner?.id) {
    // The address changed its account between the two lookups: start again.
    if (usernameOwner.email === claim.email) throw new StaleVersion(users.name, usernameOwner.id);
    throw usernameTaken();
  }
  const ownsUsername = usernameOwner !== null && usernameOwner.id === claim.id;
  if (!ownsUsername && (await isUsernameReserved(documents, claim.usernameKey, claim.email))) throw usernameTaken();
  return isOtherAccount ? removeUnverified(documents, addressOwner, audit) : [];
}

const usernameTaken = () => new AppError('conflict', 'Username already taken');

/**
 * Returns the writes that remove a never-verified account, if it has not changed since it was read, and record the
 * deletion. The account has no logins, so it owns only consents and email tokens. Personal data about its login
 * attempts in the audit log that does not fit into the commit is removed by the retention service.
 */
export async function removeUnverified(documents: Documents, user: User, audit: Audit): Promise<Write[]> {
  const accountConsents = await documents.find(consents, { index: 'byUser', equals: { userId: user.id }, limit: 100 });
  const origins = await auditOriginRemovals(documents, user.id);
  const erasure = { id: user.id, email: '', requestedAt: user.createdAt };
  return [
    write.remove(users, user.id, user.version),
    ...accountConsents.map((consent) => write.remove(consents, consent.id)),
    ...(await invalidateMailTokens(documents, user.id)),
    ...origins.writes,
    ...(origins.hasMore ? [write.insert(accountErasures, erasure)] : []),
    ...audit({ action: 'account.deleted', subject: { id: user.id }, details: { reason: 'never_verified' } }),
  ];
}

/**
 * Whether another account took the address or username concurrently. `freeAddressAndUsername` then reports which one,
 * or frees it.
 */
export const isTakenConcurrently = (error: unknown): boolean =>
  error instanceof UniqueKeyViolation && error.collection === users.name;

/**
 * Stores a new account and its first consent, and replaces a never-verified account with this address. Commits
 * `otherWrites` with it, such as the audit entry. Throws `conflict` like `freeAddressAndUsername`, also under races.
 */
export async function createAccount(
  documents: Documents,
  account: { user: New<User>; consent?: New<Consent>; otherWrites: readonly Write[] },
  audit: Audit,
): Promise<User> {
  const { user, consent, otherWrites } = account;
  await retryStale(async () => {
    const removals = await freeAddressAndUsername(
      documents,
      { email: user.email, usernameKey: user.usernameKey },
      audit,
    );
    await documents.commit([
      ...removals,
      write.insert(users, user),
      ...(consent === undefined ? [] : [write.insert(consents, consent)]),
      ...otherWrites,
    ]);
  }, isTakenConcurrently);
  return { ...user, version: 1 };
}
