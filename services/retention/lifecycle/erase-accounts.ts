import { eraseAccount, findErasures } from '@tocsin/shared/operations/accounts/erase-account.ts';
import type { ErasureReport, ErasureRun } from '@tocsin/shared/collections/topic-cleanups.ts';
import { removalDeps } from './removal-deps.ts';
import type { RetentionDeps, SweepLimit, SweepReport } from '../sweep/retention-deps.ts';
import { warnOfKept } from './warn-of-kept.ts';
import { sweepEach } from '../sweep/sweep-each.ts';

/** Accounts per run, oldest first. */
const accountsMax = 200;
const batchesMax = 50;

/** Erases the data of deleted accounts whose job was lost or ran before late writes arrived. */
export async function eraseAccounts(deps: RetentionDeps, limit: SweepLimit): Promise<SweepReport> {
  return sweepEach(deps, limit, {
    ids: await findErasures(deps.engine.documents, accountsMax),
    idsMax: accountsMax,
    sweepOne: (userId) => erase(deps, userId, { now: deps.clock(), batchesMax, lateWritesMs: deps.lateWritesMs }),
    onFailure: (error, userId) => deps.log.error({ err: error, userId }, 'account erasure failed'),
  });
}

/** Erases the data of the account, also from the archive, and logs what stays. */
export async function erase(deps: RetentionDeps, userId: string, at: ErasureRun): Promise<ErasureReport> {
  const { deliveries, messages } = deps.engine;
  const report = await eraseAccount({ ...removalDeps(deps), deliveries, messages, archive: deps.archive }, userId, at);
  warnOfKept(deps, report, { userId });
  return report;
}
