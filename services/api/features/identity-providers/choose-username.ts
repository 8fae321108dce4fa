import { randomBytes } from 'node:crypto';
import { usernameKey } from '@tocsin/shared/domain/accounts/account-rules.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { isUsernameReserved } from '@tocsin/shared/collections/registrations.ts';
import { findUserByUsername } from '@tocsin/shared/collections/users.ts';

const lengthMin = 3;
const lengthMax = 32;
const attemptsMax = 10;

/**
 * Returns an available username derived from the email: its local part without a `+` suffix, and with a
 * random suffix if taken or too short. `replacedId` is an account whose username is about to become available.
 */
export async function chooseUsername(documents: Documents, email: string, replacedId: string | null): Promise<string> {
  const plain = nameOf(email);
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const end = attempt === 0 && plain.length >= lengthMin ? '' : `-${randomBytes(3).toString('hex')}`;
    const username = plain.slice(0, lengthMax - end.length) + end;
    const holder = await findUserByUsername(documents, username);
    const isFree = holder === null || holder.id === replacedId;
    if (isFree && !(await isUsernameReserved(documents, usernameKey(username), email))) return username;
  }
  throw new Error('no random username was available');
}

/** Replaces characters that a username may not have with a dash. */
function nameOf(email: string): string {
  const [localPart = ''] = email.slice(0, email.lastIndexOf('@')).split('+');
  return localPart.replaceAll(/[^a-z0-9_.-]+/g, '-').slice(0, lengthMax) || 'user';
}
