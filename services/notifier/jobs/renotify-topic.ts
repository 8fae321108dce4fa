import {
  pushQueueOf,
  pushQueues,
  renotifyTopicJob,
  walkJob,
  type RenotifyTopicJob,
} from '@tocsin/shared/domain/push/push-job.ts';
import { ledgerMs } from '@tocsin/shared/ports/deliveries.ts';
import { clockSkewMs } from '@tocsin/shared/ports/messages.ts';
import { addPushJobs, type PlacedPush } from './add-push-jobs.ts';
import type { PushDeps } from '../sending/push-deps.ts';

/** Messages that one run makes jobs of. */
const pageSize = 100;

/**
 * Makes a job of each message of the topic that was published in the time, for the devices that missed it; a page of
 * messages at a time, in order of position. Can be run any number of times: the jobs are known by their ids.
 */
export async function renotifyTopic(deps: Pick<PushDeps, 'engine' | 'clock'>, job: RenotifyTopicJob): Promise<void> {
  const { messages, jobQueue } = deps.engine;
  const { topicId, to, request } = job;
  const now = deps.clock();
  // Of what is older nobody knows who missed it.
  const from = Math.max(job.from, now - ledgerMs);
  const before = job.after ?? (await offsetBefore(deps, topicId, from));
  if (before === null) return;
  const page = await messages.after(topicId, { after: before, upTo: Number.MAX_SAFE_INTEGER, limit: pageSize, now });
  const jobs: PlacedPush[] = [];
  const last = page.at(-1);
  // A message's time can be before that of one at a lower position.
  if (last !== undefined && page.length === pageSize && last.timestamp <= to + clockSkewMs) {
    jobs.push([pushQueues.normal, renotifyTopicJob({ ...job, after: last.offset })]);
  }
  for (const { id, timestamp, priority, isDeleted } of page) {
    if (isDeleted || timestamp < from || timestamp > to) continue;
    jobs.push([
      pushQueueOf(priority),
      walkJob({ messageId: id, topicId, after: null, publishedAt: timestamp, renotify: request }, priority),
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
