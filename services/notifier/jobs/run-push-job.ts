import { isUnavailable } from '@tocsin/shared/domain/errors.ts';
import { Discard, RetryLater, type Job } from '@tocsin/shared/ports/job-queue.ts';
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

/** Runs a job of a push queue. While a store is down, the job waits without using up attempts. */
export async function runPushJob(deps: PushDeps, job: Job): Promise<void> {
  try {
    const push = parsePushJob(job.data);
    switch (push.kind) {
      case 'walk':
        return await pushToPage(deps, push);
      case 'step':
        return await pushStep(deps, push);
      case 'send':
        return await retryPush(deps, push);
      case 'test':
        return await sendTestPush(deps, push, job);
      case 'replace':
        return await replacePushes(deps, push);
      case 'acknowledged':
        return await pushAcknowledgement(deps, push);
      case 'summary':
        return await pushSummary(deps, push);
      case 'receipts':
        return await readReceipts(deps, push);
      case 'renotify':
        return await renotifyTopic(deps, push);
    }
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
