import { eraseAccount, findErasures } from '@tocsin/shared/operations/accounts/erase-account.ts';
import { removalDeps } from './removal-deps.ts';
import type { RetentionDeps, SweepLimit, SweepReport } from '../sweep/retention-deps.ts';
import { sweepEach } from '../sweep/sweep-each.ts';

/** Accounts looked at in a run; those that wait longest come first. */
const accountsMax = 200;
const batchesMax = 50;

/** Erases what deleted accounts left behind whose own job never came, or came before everything of them had. */
export async function eraseAccounts(deps: RetentionDeps, limit: SweepLimit): Promise<SweepReport> {
  return sweepEach(deps, limit, {
    ids: await findErasures(deps.engine.documents, accountsMax),
    idsMax: accountsMax,
    sweepOne: (userId) =>
      eraseAccount({ ...removalDeps(deps), deliveries: deps.engine.deliveries }, userId, {
        now: deps.clock(),
        batchesMax,
        settleMs: deps.settleMs,
      }),
    onFailure: (error, userId) => deps.log.error({ err: error, userId }, 'a deleted account could not be erased'),
  });
}
