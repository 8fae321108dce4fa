import { write, type Collection, type Document } from '@tocsin/shared/ports/documents.ts';
import { commitUnlessStale } from './commit-unless-stale.ts';
import { restAfterBatch } from './rest-after-batch.ts';
import { isOver, type RetentionDeps, type SweepLimit, type SweepReport } from './retention-deps.ts';

/** Documents per commit, so that a commit does not block others. */
const batchSize = 500;

/**
 * Removes documents whose time is at or before the given one, oldest first. The first field of `index` must be that
 * time. A document that changes concurrently is checked again. Pauses after each full batch.
 */
export async function removeOlder<T extends Document>(
  deps: RetentionDeps,
  limit: SweepLimit,
  of: { collection: Collection<T>; index: string; time: number },
): Promise<SweepReport> {
  let removed = 0;
  while (!isOver(deps, limit)) {
    const beganAt = performance.now();
    const found = await deps.engine.documents.find(of.collection, {
      index: of.index,
      equals: {},
      to: of.time,
      limit: batchSize,
    });
    const removals = found.map(({ id, version }) => write.remove(of.collection, id, version));
    if (await commitUnlessStale(deps.engine.documents, removals)) {
      removed += found.length;
      if (found.length < batchSize) return { removed, hasMore: false };
    }
    await restAfterBatch(deps, limit, beganAt);
  }
  return { removed, hasMore: true };
}
