import { restAfterBatch } from '../sweep/rest-after-batch.ts';
import { isOver, type RetentionDeps, type SweepLimit, type SweepReport } from '../sweep/retention-deps.ts';

/** Releases free pages of the embedded file to the system in small steps with pauses. Counts pages. */
export async function reclaimSpace(deps: RetentionDeps, limit: SweepLimit): Promise<SweepReport> {
  const { reclaimSpace: release } = deps.engine.storage;
  if (release === undefined) return { removed: 0, hasMore: false };
  let removed = 0;
  while (!isOver(deps, limit)) {
    const beganAt = performance.now();
    const pages = await release();
    if (pages === 0) return { removed, hasMore: false };
    removed += pages;
    await restAfterBatch(deps, limit, beganAt);
  }
  return { removed, hasMore: true };
}
