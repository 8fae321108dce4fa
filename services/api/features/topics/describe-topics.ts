import { type TopicJson, toTopicJson } from '@tocsin/shared/wire/topic.ts';
import { mayUseTopic } from '@tocsin/shared/domain/topics/access.ts';
import type { Caller } from '@tocsin/shared/domain/accounts/caller.ts';
import type { Role } from '@tocsin/shared/domain/teams/team.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { TopicStats } from '@tocsin/shared/ports/messages/message-reads.ts';
import type { ApiDeps } from '../../api-deps.ts';

export const noMessages: TopicStats = { messageCount: 0, lastMessageAt: null };

/** Returns the topics as the caller sees them, in the given order. `roles` are the caller's roles by team. */
export async function describeTopics(
  { engine: { messages }, config }: Pick<ApiDeps, 'config' | 'engine'>,
  caller: Caller,
  page: { topics: readonly Topic[]; roles: ReadonlyMap<string, Role> },
): Promise<TopicJson[]> {
  const stats = await messages.topicStats(page.topics.map((topic) => topic.id));
  return page.topics.map((topic) => {
    const role = topic.teamId === null ? null : (page.roles.get(topic.teamId) ?? null);
    return toTopicJson(topic, {
      stats: stats.get(topic.id) ?? noMessages,
      canManage: mayUseTopic(caller, topic, 'manage', role),
      archiveDefault: config.ARCHIVE_DEFAULT,
    });
  });
}
