import { write, type Collection, type Document, type Documents, type Query } from '../ports/documents.ts';
import type { Messages } from '../ports/messages.ts';
import { topicTokens } from './credentials.ts';
import { logConsumers } from './log-consumers.ts';
import { quotaGuards } from './quota-guards.ts';
import { subscriptions } from './subscriptions-collection.ts';
import { topics } from './topics.ts';

/** Things removed at once. Harm prevented: one commit or one sweep of rows that holds everyone else up. */
const batchSize = 500;

export interface Erased {
  readonly removed: number;
  readonly hasMore: boolean;
}

/**
 * Erases what a deleted topic left behind: tokens, consumers, subscriptions, then messages with their records, in at
 * most `batchesMax` batches. Can be stopped and run again at any point. Throws when the topic still exists: nothing of a
 * living one is ever touched.
 */
export async function eraseTopic(
  deps: { documents: Documents; messages: Messages }, topicId: string, batchesMax: number,
): Promise<Erased> {
  const { documents, messages } = deps;
  if (await documents.get(topics, topicId) !== null) throw new Error(`topic ${topicId} is to be erased, and exists`);
  const steps = [
    () => removeFound(documents, topicTokens, { index: 'byTopic', equals: { topicId }, limit: batchSize }),
    () => removeFound(documents, logConsumers, { index: 'name', equals: { topicId }, limit: batchSize }),
    () => removeFound(documents, subscriptions, { index: 'byTopic', equals: { topicId }, limit: batchSize }),
    () => messages.removeTopic(topicId, batchSize),
  ];
  let removed = 0;
  let batches = 0;
  for (const step of steps) {
    for (let count = await step(); count > 0; count = await step()) {
      removed += count;
      batches += 1;
      if (batches >= batchesMax) return { removed, hasMore: true };
    }
  }
  await documents.remove(quotaGuards, topicId);
  return { removed, hasMore: false };
}

async function removeFound<T extends Document>(documents: Documents, collection: Collection<T>, query: Query<T>): Promise<number> {
  const found = await documents.find(collection, query);
  if (found.length > 0) await documents.commit(found.map(({ id }) => write.remove(collection, id)));
  return found.length;
}
