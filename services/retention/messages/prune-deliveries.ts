import { ledgerMs } from '@tocsin/shared/ports/deliveries.ts';
import { isOver, type RetentionDeps, type SweepLimit, type SweepReport } from '../sweep/retention-deps.ts';

const batchSize = 2_000;

/** Removes rows of the delivery ledger without changes for seven days. */
export async function pruneDeliveries(deps: RetentionDeps, limit: SweepLimit): Promise<SweepReport> {
  let removed = 0;
  while (!isOver(deps, limit)) {
    const count = await deps.engine.deliveries.removeBefore(deps.clock() - ledgerMs, batchSize);
    removed += count;
    if (count === 0) return { removed, hasMore: false };
  }
  return { removed, hasMore: true };
}
