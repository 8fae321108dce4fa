import { Gauge, type Registry } from 'prom-client';
import { mailQueue } from '../domain/accounts/mail-job.ts';
import { pushQueues, receiptsQueue } from '../domain/push/push-job.ts';
import { retentionQueue } from '../domain/retention/retention-job.ts';
import type { JobCounts, JobQueue } from '../ports/job-queue.ts';

const queues = [...Object.values(pushQueues), receiptsQueue, mailQueue, retentionQueue];

/** Returns the jobs of every queue by state. Throws `unavailable` while the queue is down. */
export function countJobs(jobQueue: Pick<JobQueue, 'counts'>): Promise<({ queue: string } & JobCounts)[]> {
  return Promise.all(queues.map(async (queue) => ({ queue, ...(await jobQueue.counts(queue)) })));
}

/**
 * Exposes the number of jobs per queue, measured at scrape time. Every process of an installation reports the same
 * value.
 */
export function showQueues(registry: Registry, jobQueue: Pick<JobQueue, 'counts'>): void {
  new Gauge({
    name: 'tocsin_queue_jobs',
    help: 'Jobs by queue and state (waiting, delayed, active, failed); the same from every process',
    labelNames: ['queue', 'state'],
    registers: [registry],
    async collect() {
      this.reset();
      await Promise.all(
        queues.map(async (queue) => {
          const counts = await jobQueue.counts(queue).catch((): JobCounts | undefined => undefined);
          for (const [state, count] of Object.entries(counts ?? {})) this.set({ queue, state }, count);
        }),
      );
    },
  });
}
