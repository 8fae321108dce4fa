import { eraseAccount, findErasures } from '@tocsin/shared/stores/erase-account.ts';
import { removalDeps } from './removal-deps.ts';
import { isOver, type RetentionDeps, type SweepLimit, type SweepReport } from './retention-deps.ts';

/** Accounts looked at in a run; those that wait longest come first. */
const accountsMax = 200;
const batchesMax = 50;

/** Erases what deleted accounts left behind whose own job never came, or came before everything of them had. */
export async function eraseAccounts(deps: RetentionDeps, limit: SweepLimit): Promise<SweepReport> {
  const userIds = await findErasures(deps.engine.documents, accountsMax);
  let removed = 0;
  let hasMore = userIds.length === accountsMax;
  for (const userId of userIds) {
    if (isOver(deps, limit)) return { removed, hasMore: true };
    try {
      const report = await eraseAccount({ ...removalDeps(deps), deliveries: deps.engine.deliveries }, userId, { now: deps.clock(), batchesMax });
      removed += report.removed;
      hasMore ||= report.hasMore;
    } catch (error) {
      deps.log.error({ err: error, userId }, 'a deleted account could not be erased'); // and must not keep the others from it
    }
  }
  return { removed, hasMore };
}
