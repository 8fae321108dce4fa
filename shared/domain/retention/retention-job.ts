import type { RunRequest } from './retention-run.ts';

/** The queue of background work: sweeps, clean-ups and erasures. Jobs contain IDs, names of sweeps and times. */
export const retentionQueue = 'retention';

/** Cleans up after a deleted or closed topic. The stored clean-up lists the steps. */
export interface CleanUpTopicJob {
  readonly kind: 'clean-up-topic';
  readonly topicId: string;
}

/** Returns the queue job. `id` must be new, so that every clean-up request runs. */
export function cleanUpTopicJob(id: string, topicId: string, delayMs: number) {
  const data: CleanUpTopicJob = { kind: 'clean-up-topic', topicId };
  return { id: `clean-up-topic.${id}`, data: { ...data }, delayMs };
}

/** A topic with a pending clean-up, as stored. */
interface Cleanup {
  readonly topicId: string;
  readonly kind: 'erase' | 'prune' | 'retain';
}

/** Returns clean-up jobs: one immediate job, and a later one if writes may still be in flight. */
export function cleanUpTopicJobs(
  cleanups: readonly Cleanup[],
  { makeId, lateWritesMs: lateWritesMs }: { readonly makeId: () => string; readonly lateWritesMs: number },
) {
  return cleanups.flatMap(({ topicId, kind }) =>
    (kind === 'prune' ? [0] : [0, lateWritesMs]).map((delayMs) => cleanUpTopicJob(makeId(), topicId, delayMs)),
  );
}

/** Returns the queue job that subscribes or unsubscribes the members of a team subscription. `id` must be new. */
export function teamSubscriptionJob(id: string, teamSubscriptionId: string) {
  return { id: `team-subscription.${id}`, data: { kind: 'team-subscription' as const, teamSubscriptionId } };
}

/** Runs a removal of expired messages requested by an operator. */
export function expireMessagesJob(request: RunRequest) {
  return { id: `expire-messages.${request.id}`, data: { kind: 'expire-messages' as const, ...request } };
}

/** Erases the data of a deleted account. The stored erasure has the details. */
export interface EraseAccountJob {
  readonly kind: 'erase-account';
  readonly userId: string;
}

/** Returns the queue job. `id` must be new, so that every erasure request runs. */
export function eraseAccountJob(id: string, userId: string, delayMs: number) {
  const data: EraseAccountJob = { kind: 'erase-account', userId };
  return { id: `erase-account.${id}`, data: { ...data }, delayMs };
}
