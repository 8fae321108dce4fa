import type { SessionTopic, StreamSession } from '../domain/accounts/stream-session.ts';
import type { Collection, Documents } from '../ports/documents.ts';

export const streamSessions: Collection<StreamSession> = {
  name: 'streamSessions',
  fields: { credential: 'json', topics: 'json', sinceIds: 'json', createdAt: 'time', expiresAt: 'time' },
  uniqueKeys: {},
  indexes: { byExpiry: ['expiresAt'] },
};

/** Returns the session, or null if it expired. */
export async function findStreamSession(documents: Documents, id: string, now: number): Promise<StreamSession | null> {
  const session = await documents.get(streamSessions, id);
  return session !== null && session.expiresAt > now ? session : null;
}

/** Limits the stored names of a frequently renamed topic. */
const namesPerTopic = 20;

/** Returns the session's topics with their current names. Topics that are not in the map stay unchanged. */
export function withNames(topics: readonly SessionTopic[], nameKeys: ReadonlyMap<string, string>): SessionTopic[] {
  return topics.map((topic) => {
    const nameKey = nameKeys.get(topic.id);
    if (nameKey === undefined || topic.nameKeys.includes(nameKey)) return topic;
    return { ...topic, nameKeys: [...topic.nameKeys, nameKey].slice(-namesPerTopic) };
  });
}
