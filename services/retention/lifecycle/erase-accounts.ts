import { eraseAccount, findErasures } from '@tocsin/shared/operations/accounts/erase-account.ts';
import { removalDeps } from './removal-deps.ts';
import type { RetentionDeps, SweepLimit, SweepReport } from '../sweep/retention-deps.ts';
import { sweepEach } from '../sweep/sweep-each.ts';

/** Accounts per run, oldest first. */
const accountsMax = 200;
const batchesMax = 50;

/** Erases the data of deleted accounts whose job was lost or ran before late writes arrived. */
export async function eraseAccounts(deps: RetentionDeps, limit: SweepLimit): Promise<SweepReport> {
  return sweepEach(deps, limit, {
    ids: await findErasures(deps.engine.documents, accountsMax),
    idsMax: accountsMax,
    sweepOne: (userId) =>
      eraseAccount(
        { ...removalDeps(deps), deliveries: deps.engine.deliveries, messages: deps.engine.messages },
        userId,
        {
          now: deps.clock(),
          batchesMax,
          lateWritesMs: deps.lateWritesMs,
        },
      ),
    onFailure: (error, userId) => deps.log.error({ err: error, userId }, 'account erasure failed'),
  });
}
