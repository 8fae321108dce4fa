import {
  pushQueueOf,
  pushQueues,
  renotifyTopicJob,
  pageJob,
  type RenotifyTopicJob,
} from '@tocsin/shared/domain/push/push-job.ts';
import { ledgerMs } from '@tocsin/shared/ports/deliveries.ts';
import { clockSkewMs } from '@tocsin/shared/ports/messages/message-reads.ts';
import { addPushJobs, type PlacedPush } from './add-push-jobs.ts';
import type { PushDeps } from '../sending/push-deps.ts';

/** Messages per run. */
const pageSize = 100;

/**
 * Adds a job for each message of the topic published in the period, for devices that missed it. Processes pages of
 * messages in offset order. Idempotent, because the queue ignores known job IDs.
 */
export async function renotifyTopic(deps: Pick<PushDeps, 'engine' | 'clock'>, job: RenotifyTopicJob): Promise<void> {
  const { messages, jobQueue } = deps.engine;
  const { topicId, to, request } = job;
  const now = deps.clock();
  // The ledger does not cover older messages.
  const from = Math.max(job.from, now - ledgerMs);
  const before = job.after ?? (await offsetBefore(deps, topicId, from));
  if (before === null) return;
  const page = await messages.after(topicId, { after: before, upTo: Number.MAX_SAFE_INTEGER, limit: pageSize, now });
  const jobs: PlacedPush[] = [];
  const last = page.at(-1);
  // Timestamps are not strictly ordered by offset.
  if (last !== undefined && page.length === pageSize && last.timestamp <= to + clockSkewMs) {
    jobs.push([pushQueues.normal, renotifyTopicJob({ ...job, after: last.offset })]);
  }
  for (const { id, timestamp, priority, isDeleted, restoredAt } of page) {
    if (isDeleted || restoredAt !== null || timestamp < from || timestamp > to) continue;
    jobs.push([
      pushQueueOf(priority),
      pageJob({ messageId: id, topicId, after: null, publishedAt: timestamp, renotify: request }, priority),
    ]);
  }
  await addPushJobs(jobQueue, jobs);
}

async function offsetBefore(
  { engine }: Pick<PushDeps, 'engine'>,
  topicId: string,
  time: number,
): Promise<number | null> {
  const first = await engine.messages.offsetAtTime(topicId, time);
  return first === null ? null : first - 1;
}
