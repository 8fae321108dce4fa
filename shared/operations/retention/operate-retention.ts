import { AppError } from '../../domain/errors.ts';
import { expireMessagesJob, retentionQueue } from '../../domain/retention/retention-job.ts';
import { protectedMs } from '../../domain/retention/protection.ts';
import type { RetentionState, RunRequest } from '../../domain/retention/retention-run.ts';
import type { Documents, Write } from '../../ports/documents.ts';
import type { JobQueue } from '../../ports/job-queue.ts';
import type { Audit } from '../../collections/audit-log.ts';
import { readRetentionState, retentionStates } from '../../collections/retention-runs.ts';
import { retryStale } from '../../documents/retry-stale.ts';
import { updateWith } from '../../documents/update-with.ts';

interface OperationDeps {
  readonly documents: Documents;
  readonly openJobQueue: () => Promise<JobQueue>;
}

/**
 * Pauses the removal of expired messages until `resumeRetention`. Reads still hide them. A current run stops within
 * seconds.
 */
export function pauseRetention(
  documents: Documents,
  { now, reason }: { now: number; reason: string },
  audit: Audit,
): Promise<RetentionState> {
  return change(
    documents,
    (state) => ({ pausedAt: state.pausedAt ?? now, reason }),
    audit({ action: 'retention.paused', subject: null, details: {} }),
  );
}

/** Resumes after `pauseRetention`. Without a pause, only records the action. */
export function resumeRetention(documents: Documents, audit: Audit): Promise<RetentionState> {
  return change(
    documents,
    () => ({ pausedAt: null, reason: null }),
    audit({ action: 'retention.resumed', subject: null, details: {} }),
  );
}

/**
 * Requests the removal of all messages that expired at or before the time, except in topics under legal hold. A worker
 * runs it soon, with the limits of scheduled runs. `protectedFrom`: this run and all others protect the unread records
 * of consumers for 7 days from that time. Throws `conflict` while paused or while another run is in progress.
 */
export async function requestRun(
  { documents, openJobQueue }: OperationDeps,
  request: RunRequest,
  audit: Audit,
  protectedFrom: number | null = null,
): Promise<void> {
  const queue = await openJobQueue();
  await change(
    documents,
    ({ pausedAt, runId }) => {
      if (pausedAt !== null) throw new AppError('conflict', 'Retention is paused: resume it first');
      if (runId !== null) throw new AppError('conflict', 'A run is under way: see the history');
      return protection(protectedFrom);
    },
    audit({ action: 'retention.run_requested', subject: null, details: detailsOf(request, protectedFrom) }),
  );
  await queue.add(retentionQueue, [expireMessagesJob(request)]);
}

/**
 * Confirms the waiting plan and requests its run. `upTo` identifies the plan, so that the operator confirms the plan
 * that was shown. `protectedFrom` as in `requestRun`. Throws `conflict` if no plan with this time is waiting.
 */
export async function confirmPlan(
  { documents, openJobQueue }: OperationDeps,
  request: RunRequest,
  audit: Audit,
  protectedFrom: number | null = null,
): Promise<void> {
  await change(
    documents,
    ({ waiting }) => {
      if (waiting?.upTo !== request.upTo)
        throw new AppError('conflict', 'No plan up to this time waits for confirmation');
      return { waiting: null, confirmedUpTo: request.upTo, ...protection(protectedFrom) };
    },
    audit({ action: 'retention.plan_confirmed', subject: null, details: detailsOf(request, protectedFrom) }),
  );
  await (await openJobQueue()).add(retentionQueue, [expireMessagesJob(request)]);
}

const protection = (from: number | null) => (from === null ? {} : { protectedUntil: from + protectedMs });

const detailsOf = ({ upTo }: RunRequest, protectedFrom: number | null) => ({
  up_to: upTo,
  protect_consumers: protectedFrom !== null,
});

function change(
  documents: Documents,
  decide: (state: RetentionState) => Partial<Omit<RetentionState, 'id' | 'version'>>,
  recorded: readonly Write[],
): Promise<RetentionState> {
  return retryStale(async () => {
    const state = await readRetentionState(documents);
    return updateWith(documents, retentionStates, state, { set: decide(state), otherWrites: recorded });
  });
}
