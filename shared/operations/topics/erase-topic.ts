import type { Documents } from '../../ports/documents.ts';
import type { Messages } from '../../ports/messages.ts';
import { topicTokens } from '../../collections/credentials.ts';
import { logConsumers } from '../../collections/log-consumers.ts';
import { quotaGuards } from '../../collections/quota-guards.ts';
import { removeFound } from '../../documents/remove-found.ts';
import { runBatches, type BatchReport } from '../../documents/run-batches.ts';
import { subscriptions } from '../../collections/subscriptions-collection.ts';
import { topics } from '../../collections/topics.ts';

/** Things removed at once. Harm prevented: one commit or one sweep of rows that holds everyone else up. */
const batchSize = 500;

/**
 * Erases what a deleted topic left behind: tokens, consumers, subscriptions, then messages with their records, in at
 * most `batchesMax` batches. Can be stopped and run again at any point. Throws when the topic still exists: nothing of a
 * living one is ever touched.
 */
export async function eraseTopic(
  deps: { documents: Documents; messages: Messages },
  topicId: string,
  batchesMax: number,
): Promise<BatchReport> {
  const { documents, messages } = deps;
  if ((await documents.get(topics, topicId)) !== null) throw new Error(`topic ${topicId} is to be erased, and exists`);
  const report = await runBatches(
    [
      () => removeFound(documents, topicTokens, { index: 'byTopic', equals: { topicId }, limit: batchSize }),
      () => removeFound(documents, logConsumers, { index: 'name', equals: { topicId }, limit: batchSize }),
      () => removeFound(documents, subscriptions, { index: 'byTopic', equals: { topicId }, limit: batchSize }),
      () => messages.removeTopic(topicId, batchSize),
    ],
    batchesMax,
  );
  if (!report.hasMore) await documents.remove(quotaGuards, topicId);
  return report;
}
