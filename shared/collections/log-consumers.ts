import type { LogConsumer } from '../domain/log/log-consumer.ts';
import { topicNameKey } from '../domain/topics/topic.ts';
import type { Collection, Documents } from '../ports/documents.ts';

export const logConsumers: Collection<LogConsumer> = {
  name: 'logConsumers',
  fields: { topicId: 'text', ownerId: 'text', name: 'text', nameKey: 'text', offset: 'integer', updatedAt: 'time' },
  uniqueKeys: { name: ['topicId', 'ownerId', 'nameKey'] },
  indexes: { byOwner: ['ownerId', 'updatedAt'] },
};

/** One owner's consumers of one topic. */
export const consumersPerTopic = 100;
/** One owner's consumers of all topics. Harm prevented: anyone can keep positions in every public topic. */
export const consumersPerOwner = 1_000;

/** Whose consumers of which topic. */
export type ConsumersOf = Pick<LogConsumer, 'topicId' | 'ownerId'>;

/** The owner's consumer of the topic with the name, in any case, or null. */
export async function findLogConsumer(
  documents: Documents,
  { topicId, ownerId }: ConsumersOf,
  name: string,
): Promise<LogConsumer | null> {
  const [consumer] = await documents.find(logConsumers, {
    index: 'name',
    equals: { topicId, ownerId, nameKey: topicNameKey(name) },
    limit: 1,
  });
  return consumer ?? null;
}

/** The owner's consumers of the topic, by name. */
export function listLogConsumers(documents: Documents, { topicId, ownerId }: ConsumersOf): Promise<LogConsumer[]> {
  return documents.find(logConsumers, { index: 'name', equals: { topicId, ownerId }, limit: consumersPerTopic });
}
