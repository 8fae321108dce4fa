import { AppError } from '../../domain/errors.ts';
import type { User } from '../../domain/accounts/user.ts';
import type { Documents } from '../../ports/documents.ts';
import type { Audit } from '../../collections/audit-log.ts';
import { changeAndEndLogins } from './change-and-end-logins.ts';
import { invalidateMailTokens } from '../../collections/mail-tokens.ts';
import { removeRegistrations } from '../../collections/registrations.ts';
import { removeAccount } from './remove-account.ts';
import { retryStale } from '../../documents/retry-stale.ts';
import { findUserByEmail, updateUserByEmail } from '../../collections/users.ts';

/** Operator actions on an account, except its tier. All throw `not_found` `User not found`. */

/** Marks the account's address as verified, like the emailed link. */
export async function verifyAccount(documents: Documents, email: string, audit: Audit): Promise<User> {
  const waiting = await removeRegistrations(documents, email.toLowerCase());
  return updateUserByEmail(documents, email, ({ id }) => ({
    set: { isVerified: true, wasVerified: true },
    otherWrites: [...waiting, ...audit({ action: 'account.verified', subject: { id }, details: {} })],
  }));
}

/** Ends all logins of the account; keys and tokens stay valid. */
export function endLogins(documents: Documents, email: string, audit: Audit) {
  return changeAndEndLogins(documents, async () => {
    const user = await load(documents, email);
    return {
      user,
      set: {},
      otherWrites: audit({ action: 'account.logins_ended', subject: { id: user.id }, details: {} }),
    };
  });
}

/** Sets the account's password, ends all its logins, and invalidates emailed password links. */
export function setPassword(documents: Documents, email: string, passwordHash: string, audit: Audit) {
  return changeAndEndLogins(documents, async () => {
    const user = await load(documents, email);
    const recorded = audit({ action: 'password.set', subject: { id: user.id }, details: {} });
    return {
      user,
      set: { passwordHash },
      otherWrites: [...(await invalidateMailTokens(documents, user.id, 'password-reset')), ...recorded],
    };
  });
}

/** Removes the account like `removeAccount`. Throws `conflict` while one of its topics is under legal hold. */
export function removeAccountByEmail(
  documents: Documents,
  email: string,
  by: { now: number; audit: Audit },
): Promise<User> {
  return retryStale(async () => {
    const user = await load(documents, email);
    await removeAccount(documents, user, by);
    return user;
  });
}

async function load(documents: Documents, email: string): Promise<User> {
  const user = await findUserByEmail(documents, email);
  if (user === null) throw new AppError('not_found', 'User not found');
  return user;
}
