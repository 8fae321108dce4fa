import { isOver, type RetentionDeps, type SweepLimit, type SweepReport } from './retention-deps.ts';

/** How long the ledger answers why a push did or did not come. */
const ledgerMs = 7 * 86_400_000;
const batchSize = 2_000;

/** Removes rows of the delivery ledger that nothing happened to for seven days. */
export async function pruneDeliveries(deps: RetentionDeps, limit: SweepLimit): Promise<SweepReport> {
  let removed = 0;
  while (!isOver(deps, limit)) {
    const count = await deps.engine.deliveries.removeBefore(deps.clock() - ledgerMs, batchSize);
    removed += count;
    if (count === 0) return { removed, hasMore: false };
  }
  return { removed, hasMore: true };
}
