import { topicNameKey, type Topic } from '../domain/topics/topic.ts';
import type { Collection, Documents } from '../ports/documents.ts';

export const topics: Collection<Topic> = {
  name: 'topics',
  fields: {
    name: 'text',
    nameKey: 'text',
    ownerId: 'text',
    teamId: 'text',
    accessLevel: 'text',
    description: 'text',
    isDiscoverable: 'boolean',
    isListed: 'boolean',
    iconName: 'text',
    iconColor: 'text',
    createdAt: 'time',
    partition: 'integer',
    formerEnd: 'integer',
    retentionDays: 'integer',
    archive: 'boolean',
    isHeld: 'boolean',
    escalation: 'json',
    subscriberCount: 'integer',
    lastActivityAt: 'time',
  },
  cached: { lateFields: ['subscriberCount', 'lastActivityAt'] },
  uniqueKeys: { name: ['nameKey'] },
  indexes: {
    byOwner: ['ownerId', 'createdAt'],
    byOwnerAccess: ['ownerId', 'accessLevel', 'createdAt'],
    byTeam: ['teamId', 'createdAt'],
    byTeamHeld: ['teamId', 'isHeld'],
    byOwnerHeld: ['ownerId', 'isHeld'],
    byOwnerActivity: ['ownerId', 'lastActivityAt'],
    byListed: ['isListed', 'lastActivityAt'],
    byOwnerListed: ['ownerId', 'isListed', 'lastActivityAt'],
    byTeamListed: ['teamId', 'isListed', 'accessLevel', 'lastActivityAt'],
    byHeld: ['isHeld', 'createdAt'],
  },
};

/** Returns the topic by name, case-insensitive, or null. */
export async function findTopicByName(documents: Documents, name: string): Promise<Topic | null> {
  const [topic] = await documents.find(topics, { index: 'name', equals: { nameKey: topicNameKey(name) }, limit: 1 });
  return topic ?? null;
}

/** More private topics than any tier allows. */
const privateTopicsMax = 200;

/** Returns IDs of the owner's oldest private topics without a team, oldest first. */
export async function findPrivateTopicIds(documents: Documents, ownerId: string): Promise<string[]> {
  const found = await documents.find(topics, {
    index: 'byOwnerAccess',
    equals: { ownerId, accessLevel: 'private' },
    limit: privateTopicsMax,
  });
  return found.filter((topic) => topic.teamId === null).map((topic) => topic.id);
}
