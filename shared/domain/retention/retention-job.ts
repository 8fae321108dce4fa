import type { RunRequest } from './retention-run.ts';

/** The queue of work that may take its time: sweeps, and cleaning up behind what is gone. Jobs carry ids, names of sweeps and times. */
export const retentionQueue = 'retention';

/** Cleans up behind a topic that was deleted or closed; what is to be done stands in the store. */
export interface CleanUpTopicJob {
  readonly kind: 'clean-up-topic';
  readonly topicId: string;
}

/** The job as a queue takes it. `id` is a fresh one: each request for a cleanup is run. */
export function cleanUpTopicJob(id: string, topicId: string, delayMs: number) {
  const data: CleanUpTopicJob = { kind: 'clean-up-topic', topicId };
  return { id: `clean-up-topic.${id}`, data: { ...data }, delayMs };
}

/** A topic that something is to be cleaned up behind, as a stored cleanup says. */
interface Cleanup {
  readonly topicId: string;
  readonly kind: 'erase' | 'prune' | 'retain';
}

/** The jobs of cleanups: one at once, and behind what leaves something under way another one when that has settled. */
export function cleanUpTopicJobs(
  cleanups: readonly Cleanup[],
  { makeId, settleMs }: { readonly makeId: () => string; readonly settleMs: number },
) {
  return cleanups.flatMap(({ topicId, kind }) =>
    (kind === 'prune' ? [0] : [0, settleMs]).map((delayMs) => cleanUpTopicJob(makeId(), topicId, delayMs)),
  );
}

/** Runs the removal of expired messages as an operator asked for it. */
export function expireMessagesJob(request: RunRequest) {
  return { id: `expire-messages.${request.id}`, data: { kind: 'expire-messages' as const, ...request } };
}

/** Erases what a deleted account left behind; what that is stands in the store. */
export interface EraseAccountJob {
  readonly kind: 'erase-account';
  readonly userId: string;
}

/** The job as a queue takes it. `id` is a fresh one: each request for an erasure is run. */
export function eraseAccountJob(id: string, userId: string, delayMs: number) {
  const data: EraseAccountJob = { kind: 'erase-account', userId };
  return { id: `erase-account.${id}`, data: { ...data }, delayMs };
}
