import { StaleVersion, write, type Collection, type Document } from '@tocsin/shared/ports/documents.ts';
import { isOver, type RetentionDeps, type SweepLimit, type SweepReport } from './retention-deps.ts';

/** Documents removed at once. Harm prevented: a commit that everyone else's waits for. */
const batchSize = 500;

/**
 * Removes the documents whose time is at or before the given one, the oldest first. `index` begins with the field of that
 * time. One that is written to in the moment of its removal is looked at again, as it is then.
 */
export async function removeOlder<T extends Document>(
  deps: RetentionDeps, limit: SweepLimit, of: { collection: Collection<T>; index: string; time: number },
): Promise<SweepReport> {
  let removed = 0;
  while (!isOver(deps, limit)) {
    const found = await deps.engine.documents.find(of.collection, { index: of.index, equals: {}, to: of.time, limit: batchSize });
    if (await removeUnchanged(deps, of.collection, found)) {
      removed += found.length;
      if (found.length < batchSize) return { removed, hasMore: false };
    }
  }
  return { removed, hasMore: true };
}

/** Resolves with false, and removes none of them, when one has been changed or removed since it was read. */
async function removeUnchanged<T extends Document>({ engine: { documents } }: RetentionDeps, collection: Collection<T>, found: readonly T[]): Promise<boolean> {
  try {
    if (found.length > 0) await documents.commit(found.map(({ id, version }) => write.remove(collection, id, version)));
    return true;
  } catch (error) {
    if (error instanceof StaleVersion) return false;
    throw error;
  }
}
