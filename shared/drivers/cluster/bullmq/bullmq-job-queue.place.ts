import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { systemClock, type Clock } from '../../../platform/clock.ts';
import { openLogger } from '../../../platform/logger.ts';
import type { JobQueuePlace } from '../../../contracts/job-queue/job-queue.contract.ts';
import type { JobQueue } from '../../../ports/job-queue.ts';
import { openBullmqJobQueue } from './bullmq-job-queue.ts';
import { deleteKeys } from '../redis/redis-bus.place.ts';

/** Queues with a unique prefix on the Redis server. */
export function newBullmqPlace(url: string): Promise<JobQueuePlace & { readonly prefix: string }> {
  const prefix = `test-${randomUUID()}`;
  const address = JSON.stringify({ url, prefix });
  return Promise.resolve({
    prefix,
    open: (clock) => openJobQueueAt(address, clock),
    child: { module: fileURLToPath(import.meta.url), address },
    remove: () => deleteKeys(url, `${prefix}:`),
  });
}

export function openJobQueueAt(address: string, clock: Clock = systemClock): Promise<JobQueue> {
  return openBullmqJobQueue({
    ...(JSON.parse(address) as { url: string; prefix: string }),
    clock,
    log: openLogger('test', 'silent'),
  });
}
