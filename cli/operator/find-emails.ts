import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { findUsers } from '@tocsin/shared/collections/users.ts';

/** The addresses of accounts, by their ids; of those that are gone there is none. */
export async function findEmails(
  documents: Documents,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  return new Map((await findUsers(documents, [...new Set(userIds)])).map(({ id, email }) => [id, email]));
}
