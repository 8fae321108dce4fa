import { expiredDocuments } from './expired-documents.ts';
import { cleanUpTopics } from './lifecycle/clean-up-topics.ts';
import { completeTeamRemovals } from './lifecycle/complete-team-removals.ts';
import { eraseAccounts } from './lifecycle/erase-accounts.ts';
import { lapseTeams } from './lifecycle/lapse-teams.ts';
import { settleTeamSubscriptions } from './lifecycle/settle-team-subscriptions.ts';
import { removeUnverifiedAccounts } from './lifecycle/remove-unverified-accounts.ts';
import { expireMessages } from './messages/expire-messages.ts';
import { pruneDeliveries } from './messages/prune-deliveries.ts';
import { reclaimSpace } from './messages/reclaim-space.ts';
import { redactDeletedMessages } from './messages/redact-deleted-messages.ts';
import { reconcileCounts } from './reconcile-counts.ts';
import { removeOlder } from './sweep/remove-older.ts';
import type { RetentionDeps, SweepLimit, SweepReport } from './sweep/retention-deps.ts';

export interface Sweep {
  /** The name of the sweep in logs, metrics and jobs. */
  readonly name: string;
  /**
   * Whether to reschedule immediately when its time limit ends, instead of in the next slot: with a daily schedule, the
   * next slot would leave a backlog.
   */
  readonly continues?: boolean;
  readonly run: (deps: RetentionDeps, limit: SweepLimit) => Promise<SweepReport>;
}

/** All scheduled sweeps. Each runs by RETENTION_SCHEDULE, on one replica per slot. */
export const sweeps: readonly Sweep[] = [
  { name: 'expire-messages', continues: true, run: expireMessages },
  { name: 'give-back-space', continues: true, run: reclaimSpace },
  { name: 'empty-deleted-messages', run: redactDeletedMessages },
  { name: 'prune-deliveries', continues: true, run: pruneDeliveries },
  { name: 'erase-accounts', run: eraseAccounts },
  { name: 'clean-up-topics', run: cleanUpTopics },
  { name: 'remove-unverified-accounts', run: removeUnverifiedAccounts },
  { name: 'complete-team-removals', run: completeTeamRemovals },
  { name: 'lapse-teams', run: lapseTeams },
  { name: 'settle-team-subscriptions', continues: true, run: settleTeamSubscriptions },
  { name: 'reconcile-counts', run: reconcileCounts },
  ...[...new Set(expiredDocuments.map(({ sweep }) => sweep))].map((name) => ({
    name,
    continues: true,
    run: (deps: RetentionDeps, limit: SweepLimit) => removeExpiredDocuments(name, deps, limit),
  })),
];

/** Runs the rows of the sweep in order. Counts the documents of the last one, which the others belong to. */
async function removeExpiredDocuments(name: string, deps: RetentionDeps, limit: SweepLimit): Promise<SweepReport> {
  let report: SweepReport = { removed: 0, hasMore: false };
  for (const { collection, index, keptMs } of expiredDocuments.filter(({ sweep }) => sweep === name)) {
    const { removed, hasMore } = await removeOlder(deps, limit, {
      collection,
      index,
      time: deps.clock() - keptMs(deps),
    });
    report = { removed, hasMore: report.hasMore || hasMore };
  }
  return report;
}
