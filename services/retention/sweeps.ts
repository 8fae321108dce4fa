import { cleanUpTopics } from './lifecycle/clean-up-topics.ts';
import { completeTeamRemovals } from './lifecycle/complete-team-removals.ts';
import { eraseAccounts } from './lifecycle/erase-accounts.ts';
import { redactDeletedMessages } from './messages/redact-deleted-messages.ts';
import { expireMessages } from './messages/expire-messages.ts';
import { reclaimSpace } from './messages/reclaim-space.ts';
import { lapseTeams } from './lifecycle/lapse-teams.ts';
import { pruneDeliveries } from './messages/prune-deliveries.ts';
import { reconcileCounts } from './reconcile-counts.ts';
import { removeOldReports } from './remove-old-reports.ts';
import { removeAddressChanges } from './remove-address-changes.ts';
import { removeEndedLogins } from './remove-ended-logins.ts';
import { removeEndedStreamSessions } from './remove-ended-stream-sessions.ts';
import { removeIdempotencyKeys } from './remove-idempotency-keys.ts';
import { removeMailedTokens } from './remove-mailed-tokens.ts';
import { removeMessageLocks } from './remove-message-locks.ts';
import { removeOldAuditEntries } from './remove-old-audit-entries.ts';
import { removeOldInvites } from './remove-old-invites.ts';
import { removeUnverifiedAccounts } from './lifecycle/remove-unverified-accounts.ts';
import type { RetentionDeps, SweepLimit, SweepReport } from './sweep/retention-deps.ts';

export interface Sweep {
  /** The name of the sweep in logs, metrics and jobs. */
  readonly name: string;
  /** Reschedules immediately when its time limit ends, instead of in the next slot, because a daily schedule would leave a backlog. */
  readonly goesOn?: boolean;
  readonly run: (deps: RetentionDeps, limit: SweepLimit) => Promise<SweepReport>;
}

/** All scheduled sweeps. Each runs by RETENTION_SCHEDULE, on one replica per slot. */
export const sweeps: readonly Sweep[] = [
  { name: 'expire-messages', goesOn: true, run: expireMessages },
  { name: 'give-back-space', goesOn: true, run: reclaimSpace },
  { name: 'empty-deleted-messages', run: redactDeletedMessages },
  { name: 'prune-deliveries', run: pruneDeliveries },
  { name: 'erase-accounts', run: eraseAccounts },
  { name: 'clean-up-topics', run: cleanUpTopics },
  { name: 'remove-unverified-accounts', run: removeUnverifiedAccounts },
  { name: 'remove-ended-logins', run: removeEndedLogins },
  { name: 'remove-ended-stream-sessions', run: removeEndedStreamSessions },
  { name: 'remove-mailed-tokens', run: removeMailedTokens },
  { name: 'remove-address-changes', run: removeAddressChanges },
  { name: 'complete-team-removals', run: completeTeamRemovals },
  { name: 'lapse-teams', run: lapseTeams },
  { name: 'remove-old-invites', run: removeOldInvites },
  { name: 'remove-idempotency-keys', run: removeIdempotencyKeys },
  { name: 'remove-message-locks', run: removeMessageLocks },
  { name: 'remove-old-audit-entries', run: removeOldAuditEntries },
  { name: 'reconcile-counts', run: reconcileCounts },
  { name: 'remove-old-reports', run: removeOldReports },
];
