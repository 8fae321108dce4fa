import { StaleVersion, type Documents, type Write } from '@tocsin/shared/ports/documents.ts';

/** Commits; resolves with false and writes nothing if one of the documents changed since it was read. */
export async function commitUnlessStale(
  documents: Pick<Documents, 'commit'>,
  writes: readonly Write[],
): Promise<boolean> {
  try {
    if (writes.length > 0) await documents.commit(writes);
    return true;
  } catch (error) {
    if (error instanceof StaleVersion) return false;
    throw error;
  }
}
