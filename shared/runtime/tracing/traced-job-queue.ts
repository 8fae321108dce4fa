import { traceOf, withTrace } from '../../domain/trace-context.ts';
import type { Job, JobQueue, WorkOptions } from '../../ports/job-queue.ts';
import { messagingOperation, type Tracing } from './tracing.ts';

/**
 * Wraps the queue: adds a span per run of a job. Adds the active trace context to the data of a new job, unless they
 * contain one. Jobs added by a run propagate the context of the run's own job, so that pages and retries of one task
 * are siblings.
 */
export function tracedJobQueue(
  jobs: JobQueue,
  { tracing, system }: { tracing: Tracing; /** `messaging.system`. */ system: string },
): JobQueue {
  const run = (queue: string, job: Job, options: WorkOptions): Promise<void> => {
    const parent = traceOf(job.data);
    return tracing.span(
      {
        name: `process ${queue}`,
        kind: 'consumer',
        parent: parent ?? null,
        propagated: parent,
        attributes: {
          'messaging.system': system,
          ...messagingOperation('process'),
          'messaging.destination.name': queue,
          'messaging.message.id': job.id,
          'tocsin.job.kind': String(job.data['kind']),
          'tocsin.job.attempt': job.attempt,
        },
      },
      () => options.run(job),
    );
  };
  return {
    add: (queue, added) => {
      const trace = tracing.contextForJobs();
      return jobs.add(
        queue,
        added.map((job) => ('trace' in job.data ? job : withTrace(job, trace))),
      );
    },
    hasRoom: () => jobs.hasRoom(),
    work: (queue, options) => jobs.work(queue, { ...options, run: (job) => run(queue, job, options) }),
    schedule: (queue, schedule) => jobs.schedule(queue, schedule),
    unschedule: (queue, id) => jobs.unschedule(queue, id),
    counts: (queue) => jobs.counts(queue),
    failed: (queue, page) => jobs.failed(queue, page),
    retryFailed: (queue, id) => jobs.retryFailed(queue, id),
    ping: () => jobs.ping(),
    close: () => jobs.close(),
  };
}
