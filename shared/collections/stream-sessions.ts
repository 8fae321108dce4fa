import type { SessionTopic, StreamSession } from '../domain/accounts/stream-session.ts';
import type { Collection, Documents } from '../ports/documents.ts';

export const streamSessions: Collection<StreamSession> = {
  name: 'streamSessions',
  fields: { credential: 'json', topics: 'json', sinceIds: 'json', createdAt: 'time', expiresAt: 'time' },
  uniqueKeys: {},
  indexes: { byExpiry: ['expiresAt'] },
};

/** The session while it lives, or null. */
export async function findStreamSession(documents: Documents, id: string, now: number): Promise<StreamSession | null> {
  const session = await documents.get(streamSessions, id);
  return session !== null && session.expiresAt > now ? session : null;
}

/** Harm prevented: a topic that is renamed all day filling the sessions it is in. */
const namesPerTopic = 20;

/** The session's topics, each with the name that it has now; those without one in the map are as they were. */
export function withNames(topics: readonly SessionTopic[], nameKeys: ReadonlyMap<string, string>): SessionTopic[] {
  return topics.map((topic) => {
    const nameKey = nameKeys.get(topic.id);
    if (nameKey === undefined || topic.nameKeys.includes(nameKey)) return topic;
    return { ...topic, nameKeys: [...topic.nameKeys, nameKey].slice(-namesPerTopic) };
  });
}
