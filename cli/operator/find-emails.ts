import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { findUsers } from '@tocsin/shared/collections/users.ts';

/** Returns the email addresses of accounts by ID, without deleted accounts. */
export async function findEmails(
  documents: Documents,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  return new Map((await findUsers(documents, [...new Set(userIds)])).map(({ id, email }) => [id, email]));
}
