/** The queue of work that may take its time: cleaning up behind what is gone. Jobs carry ids only. */
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
