import type { Registration } from '../domain/accounts/registration.ts';
import { retryStale } from '../documents/retry-stale.ts';
import { write, type Collection, type Documents, type Write } from '../ports/documents.ts';

export const registrations: Collection<Registration> = {
  name: 'registrations',
  fields: {
    email: 'text',
    username: 'text',
    usernameKey: 'text',
    passwordHash: 'text',
    termsVersion: 'text',
    createdAt: 'time',
    tokenHash: 'text',
    tokenExpiresAt: 'time',
  },
  uniqueKeys: {},
  indexes: {
    byEmail: ['email', 'createdAt'],
    byUsername: ['usernameKey', 'createdAt'],
    byToken: ['tokenHash'],
    byTime: ['createdAt'],
  },
};

/** The maximum number of registrations that wait for one address; a newer one replaces the oldest. */
export const registrationsMax = 20;
/** Registrations per read. Above `registrationsMax`, and above the addresses that realistically share one username. */
const readMax = 100;

/** Returns the registrations that wait for the address, oldest first. */
export function findRegistrations(documents: Documents, email: string): Promise<Registration[]> {
  return documents.find(registrations, { index: 'byEmail', equals: { email }, limit: readMax });
}

/** Returns the registration with the emailed token, or null. */
export async function findRegistrationByToken(documents: Documents, tokenHash: string): Promise<Registration | null> {
  const [found] = await documents.find(registrations, { index: 'byToken', equals: { tokenHash }, limit: 1 });
  return found ?? null;
}

/** Whether a registration for another address waits with the username. */
export async function isUsernameReserved(documents: Documents, usernameKey: string, email: string): Promise<boolean> {
  const found = await documents.find(registrations, {
    index: 'byUsername',
    equals: { usernameKey },
    limit: readMax,
  });
  return found.some((registration) => registration.email !== email);
}

/** Returns the writes that remove the registrations for the address, and their links with them. */
export async function removeRegistrations(documents: Documents, email: string): Promise<Write[]> {
  return (await findRegistrations(documents, email)).map(({ id }) => write.remove(registrations, id));
}

/**
 * Stores the token that is about to be emailed and invalidates the earlier one. Null if the registration was removed.
 */
export async function setRegistrationToken(
  documents: Documents,
  id: string,
  token: { readonly tokenHash: string; readonly tokenExpiresAt: number },
): Promise<Registration | null> {
  return retryStale(async () => {
    const found = await documents.get(registrations, id);
    return found === null ? null : documents.update(registrations, found, token);
  });
}
