import type { LimitFunction } from 'p-limit';
import { isUnavailable } from '@tocsin/shared/domain/errors.ts';
import { Discard, RetryLater, type Job } from '@tocsin/shared/ports/job-queue.ts';
import type { PushJob } from '@tocsin/shared/domain/push/push-job.ts';
import { parsePushJob } from './parse-push-job.ts';
import type { PushDeps } from '../sending/push-deps.ts';
import { pushAcknowledgement } from './push-acknowledgement.ts';
import { pushStep } from './push-step.ts';
import { pushSummary } from './push-summary.ts';
import { readReceipts } from './read-receipts.ts';
import { renotifyTopic } from './renotify-topic.ts';
import { replacePushes } from './replace-pushes.ts';
import { retryPush } from './retry-push.ts';
import { sendTestPush } from './send-test-push.ts';
import { pushToPage } from './push-to-page.ts';

/** The pause while a store is down, with jitter so that jobs do not retry together. */
const awayPauseMs = 2_000;

/**
 * Runs a job of a push queue. While a store is down, the job waits without using up attempts. Jobs with many devices
 * run within `limitLarge`.
 */
export async function runPushJob(deps: PushDeps, limitLarge: LimitFunction, job: Job): Promise<void> {
  try {
    const push = parsePushJob(job.data);
    await (isLarge(push, deps.limits) ? limitLarge(() => runParsed(deps, push, job)) : runParsed(deps, push, job));
  } catch (error) {
    if (isUnavailable(error)) {
      throw new RetryLater(awayPauseMs * (0.5 + deps.random()), error.message);
    }
    if (error instanceof Discard)
      deps.log.warn({ jobId: job.id, reason: error.message }, 'pushes failed permanently, see the dead letters');
    else if (!(error instanceof RetryLater))
      deps.log.error({ err: error, jobId: job.id }, 'a push job failed, retrying');
    throw error;
  }
}

function runParsed(deps: PushDeps, push: PushJob, job: Job): Promise<void> {
  switch (push.kind) {
    case 'walk':
      return pushToPage(deps, push);
    case 'step':
      return pushStep(deps, push);
    case 'send':
      return retryPush(deps, push);
    case 'test':
      return sendTestPush(deps, push, job);
    case 'replace':
      return replacePushes(deps, push);
    case 'acknowledged':
      return pushAcknowledgement(deps, push);
    case 'summary':
      return pushSummary(deps, push);
    case 'receipts':
      return readReceipts(deps, push);
    case 'renotify':
      return renotifyTopic(deps, push);
  }
}

/** Whether the job can reach more devices than a first page. */
function isLarge(push: PushJob, { firstPageSize }: PushDeps['limits']): boolean {
  switch (push.kind) {
    case 'walk':
      return push.after !== null;
    case 'send':
      return push.targets.length > firstPageSize;
    case 'replace':
    case 'acknowledged':
      return push.after !== null || (push.deviceIds?.length ?? 0) > firstPageSize;
    default:
      return false;
  }
}
