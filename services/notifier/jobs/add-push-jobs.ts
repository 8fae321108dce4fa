import { pushQueues, type PushQueue, type QueuedPush } from '@tocsin/shared/domain/push/push-job.ts';
import type { JobQueue } from '@tocsin/shared/ports/job-queue.ts';

/** A job and its queue. */
export type PlacedPush = readonly [queue: PushQueue, job: QueuedPush];

/** Stores the jobs, batched per queue, urgent ones first. */
export async function addPushJobs(jobQueue: Pick<JobQueue, 'add'>, placed: readonly PlacedPush[]): Promise<void> {
  for (const queue of Object.values(pushQueues)) {
    const jobs = placed.flatMap(([of, job]) => (of === queue ? [job] : []));
    if (jobs.length > 0) await jobQueue.add(queue, jobs);
  }
}
