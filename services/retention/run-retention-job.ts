import { z } from 'zod';
import { isUnavailable } from '@tocsin/shared/domain/errors.ts';
import type { RunRequest } from '@tocsin/shared/domain/retention/retention-run.ts';
import { Discard, RetryLater, type Job } from '@tocsin/shared/ports/job-queue.ts';
import { runTeamSubscription } from '@tocsin/shared/operations/teams/subscriptions/run-team-subscription.ts';
import type { BatchReport } from '@tocsin/shared/documents/run-batches.ts';
import { clocksDisagree } from './sweep/clocks-disagree.ts';
import { expireMessages } from './messages/expire-messages.ts';
import { cleanUp } from './lifecycle/clean-up-topics.ts';
import { erase } from './lifecycle/erase-accounts.ts';
import { removalDeps } from './lifecycle/removal-deps.ts';
import type { RetentionDeps } from './sweep/retention-deps.ts';
import { sweeps, type Sweep } from './sweeps.ts';

const retentionJob = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('sweep'), name: z.string() }),
  z.object({
    kind: z.literal('expire-messages'),
    id: z.string(),
    upTo: z.number(),
    startedBy: z.enum(['api', 'command']),
  }),
  z.object({ kind: z.literal('clean-up-topic'), topicId: z.string() }),
  z.object({ kind: z.literal('erase-account'), userId: z.string() }),
  z.object({ kind: z.literal('team-subscription'), teamSubscriptionId: z.string() }),
]);

/**
 * Time limit of a sweep run. The next slot continues it, or, for a sweep that `continues`, its own job after
 * `continuePauseMs`. Shorter than any sensible schedule.
 */
const sweepMsMax = 30_000;
/** Batches of a clean-up or erasure before other jobs can run. */
const cleanUpBatchesMax = 20;
/** Members of a team subscription before other jobs can run. */
const membersMax = 500;
const outagePauseMs = 5_000;
/** The pause before a sweep continues, so that other jobs can run. */
const continuePauseMs = 100;

export interface RetentionJobDeps extends RetentionDeps {
  /** The scheduled sweeps that this process is running. */
  readonly running: Set<string>;
  readonly closing: AbortSignal;
}

/** Runs a job of the retention queue. */
export async function runRetentionJob(deps: RetentionJobDeps, job: Job): Promise<void> {
  const parsed = retentionJob.safeParse(job.data);
  if (!parsed.success) throw new Discard('not a retention job', parsed.error);
  const { data } = parsed;
  const at = {
    now: deps.clock(),
    batchesMax: cleanUpBatchesMax,
    lateWritesMs: deps.lateWritesMs,
    retentionDays: deps.retentionDays,
  };
  if (data.kind === 'clean-up-topic') return untilDone(cleanUp(deps, data.topicId, at));
  if (data.kind === 'erase-account') return untilDone(erase(deps, data.userId, at));
  if (data.kind === 'team-subscription')
    return untilDone(runTeamSubscription(removalDeps(deps), data.teamSubscriptionId, membersMax));
  const sweep = data.kind === 'sweep' ? sweepNamed(data.name) : operatorsRun(data);
  const hasMore = await (data.kind === 'sweep' ? runOnce(deps, sweep) : runSweep(deps, sweep));
  if (hasMore && sweep.continues === true) throw new RetryLater(continuePauseMs, 'more work remains');
}

function sweepNamed(asked: string): Sweep {
  const sweep = sweeps.find(({ name }) => name === asked);
  if (sweep === undefined) throw new Discard(`unknown sweep ${asked}`);
  return sweep;
}

function operatorsRun(request: RunRequest): Sweep {
  return { name: 'expire-messages', continues: true, run: (deps, limit) => expireMessages(deps, limit, request) };
}

/** Skips the slot if an earlier one is still running, which also finds what is due now. */
async function runOnce(deps: RetentionJobDeps, sweep: Sweep): Promise<boolean> {
  if (deps.running.has(sweep.name)) return false;
  deps.running.add(sweep.name);
  return runSweep(deps, sweep).finally(() => deps.running.delete(sweep.name));
}

/** Logs a failed run and ends it; the next slot tries again. Resolves with whether it ran out of time. */
async function runSweep(deps: RetentionJobDeps, sweep: Sweep): Promise<boolean> {
  const { metrics, log, clock } = deps;
  const startedAt = clock();
  try {
    if (await clocksDisagree(deps)) {
      metrics.runs.inc({ sweep: sweep.name, outcome: 'clock' });
      return false;
    }
    const report = await sweep.run(deps, { endsAt: startedAt + sweepMsMax, closing: deps.closing });
    metrics.removed.inc({ sweep: sweep.name }, report.removed);
    metrics.runs.inc({ sweep: sweep.name, outcome: report.hasMore ? 'more' : 'done' });
    const line = { sweep: sweep.name, ...report, ms: clock() - startedAt };
    if (report.removed > 0 || report.hasMore) log.info(line, 'swept');
    else log.debug(line, 'swept');
    return report.hasMore;
  } catch (error) {
    metrics.runs.inc({ sweep: sweep.name, outcome: 'failed' });
    log.warn({ err: error, sweep: sweep.name }, 'a sweep failed, the next slot retries');
    return false;
  } finally {
    metrics.seconds.observe({ sweep: sweep.name }, (clock() - startedAt) / 1_000);
  }
}

/** Repeats the job while work remains, and while a store is down. */
async function untilDone(work: Promise<BatchReport>): Promise<void> {
  const hasMore = await work.then(
    (report) => report.hasMore,
    (error: unknown) => {
      if (isUnavailable(error)) throw new RetryLater(outagePauseMs, error.message);
      throw error;
    },
  );
  if (hasMore) throw new RetryLater(0, 'more work remains');
}
