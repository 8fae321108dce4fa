import { write, type Collection, type Document } from '@tocsin/shared/ports/documents.ts';
import { isOver, type RetentionDeps, type SweepLimit, type SweepReport } from './retention-deps.ts';

/** Documents removed at once. Harm prevented: a commit that everyone else's waits for. */
const batchSize = 500;

/**
 * Removes the documents whose time is at or before the given one, the oldest first. `index` begins with the field of that
 * time. Only for what nobody changes any more once it is that old: no version is looked at.
 */
export async function removeOlder<T extends Document>(
  deps: RetentionDeps, limit: SweepLimit, of: { collection: Collection<T>; index: string; time: number },
): Promise<SweepReport> {
  const { documents } = deps.engine;
  let removed = 0;
  while (!isOver(deps, limit)) {
    const found = await documents.find(of.collection, { index: of.index, equals: {}, to: of.time, limit: batchSize });
    if (found.length > 0) await documents.commit(found.map(({ id }) => write.remove(of.collection, id)));
    removed += found.length;
    if (found.length < batchSize) return { removed, hasMore: false };
  }
  return { removed, hasMore: true };
}
