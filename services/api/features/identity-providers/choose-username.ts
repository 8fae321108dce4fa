import { randomBytes } from 'node:crypto';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { findUserByUsername } from '@tocsin/shared/collections/users.ts';

const lengthMin = 3;
const lengthMax = 32;
const attemptsMax = 10;

/**
 * A username made from the address, free at this moment: what stands before the at sign, without a `+` part, and with a
 * random end where that is taken or too short. `replacedId` is an account whose username is about to be free.
 */
export async function chooseUsername(documents: Documents, email: string, replacedId: string | null): Promise<string> {
  const plain = nameOf(email);
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const end = attempt === 0 && plain.length >= lengthMin ? '' : `-${randomBytes(3).toString('hex')}`;
    const username = plain.slice(0, lengthMax - end.length) + end;
    const holder = await findUserByUsername(documents, username);
    if (holder === null || holder.id === replacedId) return username;
  }
  throw new Error('of many random usernames none was free');
}

/** The characters of the local part that a username may have; others become a dash. */
function nameOf(email: string): string {
  const [localPart = ''] = email.slice(0, email.lastIndexOf('@')).split('+');
  return localPart.replaceAll(/[^a-z0-9_.-]+/g, '-').slice(0, lengthMax) || 'user';
}
