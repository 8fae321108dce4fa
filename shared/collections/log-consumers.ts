import type { LogConsumer } from '../domain/log/log-consumer.ts';
import { topicNameKey } from '../domain/topics/topic.ts';
import type { Collection, Documents } from '../ports/documents.ts';

export const logConsumers: Collection<LogConsumer> = {
  name: 'logConsumers',
  fields: {
    topicId: 'text',
    ownerId: 'text',
    name: 'text',
    nameKey: 'text',
    offset: 'integer',
    updatedAt: 'time',
    placedAt: 'time',
    lost: 'integer',
    lostUpTo: 'time',
    leaseHash: 'text',
    leaseUntil: 'time',
  },
  uniqueKeys: { name: ['topicId', 'ownerId', 'nameKey'] },
  indexes: { byOwner: ['ownerId', 'updatedAt'], byOffset: ['topicId', 'offset'] },
};

/** The maximum number of an owner's consumers per topic. */
export const consumersPerTopic = 100;
/** The maximum number of an owner's consumers over all topics, because anyone can create consumers in public topics. */
export const consumersPerOwner = 1_000;

/** The owner and topic of consumers. */
export type ConsumersOf = Pick<LogConsumer, 'topicId' | 'ownerId'>;

/** Returns the owner's consumer of the topic by name, case-insensitive, or null. */
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

/** Returns the owner's consumers of the topic, by name. */
export function listLogConsumers(documents: Documents, { topicId, ownerId }: ConsumersOf): Promise<LogConsumer[]> {
  return documents.find(logConsumers, { index: 'name', equals: { topicId, ownerId }, limit: consumersPerTopic });
}
