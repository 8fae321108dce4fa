import type { Consent } from '../../domain/accounts/consent.ts';
import { AppError } from '../../domain/errors.ts';
import { registeredUser, type Registration } from '../../domain/accounts/registration.ts';
import type { User } from '../../domain/accounts/user.ts';
import { write, type Documents, type New, type Write } from '../../ports/documents.ts';
import type { Audit } from '../../collections/audit-log.ts';
import { consents } from '../../collections/consents.ts';
import {
  findRegistrationByToken,
  findRegistrations,
  registrations,
  registrationsMax,
} from '../../collections/registrations.ts';
import { findUserByEmail, users } from '../../collections/users.ts';
import { retryStale } from '../../documents/retry-stale.ts';
import { createAccount, freeAddressAndUsername, isTakenConcurrently } from './accounts.ts';

/**
 * Stores a registration and its unverified account, which replaces that of an earlier registration for the address. The
 * earlier one keeps its link. Throws `conflict` like `createAccount`.
 */
export async function registerAccount(
  documents: Documents,
  registration: New<Registration>,
  by: { readonly makeId: () => string; readonly otherWrites: readonly Write[]; readonly audit: Audit },
): Promise<User> {
  const waiting = await findRegistrations(documents, registration.email);
  const surplus = waiting.slice(0, Math.max(0, waiting.length - registrationsMax + 1));
  const user = registeredUser(registration, false);
  return createAccount(
    documents,
    {
      user,
      consent: consentOf(registration, by.makeId()),
      otherWrites: [
        ...surplus.map(({ id }) => write.remove(registrations, id)),
        write.insert(registrations, registration),
        ...by.otherWrites,
      ],
    },
    by.audit,
  );
}

const consentOf = ({ id, termsVersion, createdAt }: New<Registration>, consentId: string): New<Consent> => ({
  id: consentId,
  userId: id,
  consentType: 'tos',
  documentVersion: termsVersion,
  acceptedAt: createdAt,
  consentMethod: 'web_checkbox',
  isActive: true,
});

export interface Confirmation {
  readonly now: number;
  readonly makeId: () => string;
  /** Writes of the same commit. */
  readonly otherWrites: (account: Pick<User, 'id' | 'email'>) => readonly Write[];
  /** Records the removal of the account of another registration for the address. */
  readonly audit: Audit;
}

/**
 * Verifies the account of exactly the registration to which the token was emailed, with its username and password, and
 * removes the others for the address. Null if no registration has the token. Throws `invalid` if the token has expired,
 * or the address belongs to a verified account, and `conflict` if the username is taken.
 */
export function confirmRegistration(documents: Documents, tokenHash: string, by: Confirmation): Promise<User | null> {
  return retryStale(async () => {
    const registration = await findRegistrationByToken(documents, tokenHash);
    if (registration === null) return null;
    if (registration.tokenExpiresAt! <= by.now) throw new AppError('invalid', 'Token has expired');
    const { writes, user } = await verifiedAccount(documents, registration, by);
    const others = (await findRegistrations(documents, registration.email)).filter(({ id }) => id !== registration.id);
    await documents.commit([
      // Only one of two concurrent confirmations removes it.
      write.remove(registrations, registration.id, registration.version),
      ...others.map(({ id }) => write.remove(registrations, id)),
      ...writes,
      ...by.otherWrites(registration),
    ]);
    return user;
  }, isTakenConcurrently);
}

async function verifiedAccount(
  documents: Documents,
  registration: Registration,
  by: Confirmation,
): Promise<{ writes: Write[]; user: User }> {
  const account = await documents.get(users, registration.id);
  if (account !== null) {
    if (account.wasVerified || account.email !== registration.email) throw usedToken();
    const set = { isVerified: true, wasVerified: true };
    return { writes: [write.update(users, account, set)], user: { ...account, ...set } };
  }
  const user = registeredUser(registration, true);
  if ((await findUserByEmail(documents, user.email))?.wasVerified === true) throw usedToken();
  const room = await freeAddressAndUsername(documents, user, by.audit);
  const consent = consentOf(registration, by.makeId());
  return {
    writes: [...room, write.insert(users, user), write.insert(consents, consent)],
    user: { ...user, version: 1 },
  };
}

const usedToken = () => new AppError('invalid', 'Invalid or used token');
