import type { History } from '@tocsin/shared/operations/messages/history.ts';
import type { StreamTopic } from '../../live/open-stream.ts';
import { resolveStreamPosition } from '../../live/resolve-position.ts';
import type { Given } from './given-position.ts';
import type { TopicFeeds } from '../../live/topic-feeds.ts';
import type { NamedTopic } from './load-topics.ts';

export interface ResolvedPositions {
  readonly starts: readonly StreamTopic[];
  /** Whether no records were lost; undefined without a position. */
  readonly recovered: boolean | undefined;
}

/**
 * Resolves the start of each topic of a stream. Topics without a position start live. Unknown names in the position are
 * ignored, and then records may be lost. Throws `unavailable`.
 */
export async function resolvePositions(
  deps: { readonly history: History; readonly feeds: TopicFeeds },
  topics: readonly NamedTopic[],
  { given, now }: { given: Given<ReadonlyMap<string, string>>; now: number },
): Promise<ResolvedPositions> {
  const ids = given === undefined || given === 'malformed' ? new Map<string, string>() : given;
  const { byTopic, hasStrangers } = await assign(deps.history, topics, ids);
  const starts = await Promise.all(
    topics.map(async ({ topic }): Promise<StreamTopic> => {
      const id = byTopic.get(topic.id);
      if (id === undefined) return { topic, position: null, positionId: null };
      return { topic, position: await resolveStreamPosition(deps, topic, { messageId: id, now }), positionId: id };
    }),
  );
  if (given === undefined) return { starts, recovered: undefined };
  const isExact = starts.every(({ position }) => position === null || position.isExact);
  return { starts, recovered: given !== 'malformed' && !hasStrangers && isExact };
}

/** Assigns IDs to topics. `hasStrangers`: whether a name does not belong to the stream. */
async function assign(
  history: History,
  topics: readonly NamedTopic[],
  ids: ReadonlyMap<string, string>,
): Promise<{ byTopic: ReadonlyMap<string, string>; hasStrangers: boolean }> {
  const byName = new Map<string, NamedTopic[]>();
  for (const named of topics)
    for (const nameKey of named.nameKeys) byName.set(nameKey, [...(byName.get(nameKey) ?? []), named]);
  const byTopic = new Map<string, string>();
  let hasStrangers = false;
  for (const [nameKey, id] of ids) {
    const topic = await pick(history, byName.get(nameKey) ?? [], { nameKey, id });
    if (topic === undefined || byTopic.has(topic.id)) hasStrangers = true;
    else byTopic.set(topic.id, id);
  }
  return { byTopic, hasStrangers };
}

/** Topics that exchanged names are distinguished by the message of the ID; a name alone means its current topic. */
async function pick(history: History, called: readonly NamedTopic[], { nameKey, id }: { nameKey: string; id: string }) {
  if (called.length <= 1) return called[0]?.topic;
  const message = await history.find(id);
  const found =
    called.find(({ topic }) => topic.id === message?.topicId) ??
    called.find(({ topic }) => topic.nameKey === nameKey) ??
    called[0];
  return found?.topic;
}
