import { ledgerMs } from '@tocsin/shared/ports/deliveries.ts';
import { restAfterBatch } from '../sweep/rest-after-batch.ts';
import { isOver, type RetentionDeps, type SweepLimit, type SweepReport } from '../sweep/retention-deps.ts';

/** Limits a write to a few milliseconds, because concurrent publishes wait for it (docs/benchmarks.md). */
const batchSize = 500;

/** Removes rows of the delivery ledger without changes for seven days, with a pause after each batch. */
export async function pruneDeliveries(deps: RetentionDeps, limit: SweepLimit): Promise<SweepReport> {
  let removed = 0;
  while (!isOver(deps, limit)) {
    const beganAt = performance.now();
    const count = await deps.engine.deliveries.removeBefore(deps.clock() - ledgerMs, batchSize);
    if (count === 0) return { removed, hasMore: false };
    removed += count;
    await restAfterBatch(deps, limit, beganAt);
  }
  return { removed, hasMore: true };
}
