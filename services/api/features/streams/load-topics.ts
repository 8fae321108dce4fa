import { requireTopicAccess } from '@tocsin/shared/domain/topics/access.ts';
import type { Caller } from '@tocsin/shared/domain/accounts/caller.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { SessionTopic } from '@tocsin/shared/domain/accounts/stream-session.ts';
import { topicNameKey, type Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { Directory } from '../../directory/directory.ts';
import { roleOf } from '../../http/load-topic.ts';

/** The maximum of topics of one stream, not counting duplicates. */
export const streamTopicsMax = 100;

/** The error responses of routes with topics. */
export const topicErrors = { 404: 'One of the topics does not exist.' } as const;

/** A topic of a stream. */
export interface NamedTopic {
  readonly topic: Topic;
  /** The name keys that positions may use for it. */
  readonly nameKeys: readonly string[];
}

/** Returns the names in the query's `topics`, comma-separated or repeated, ignoring blank ones. */
export function namesInQuery(searchParams: URLSearchParams): string[] {
  return searchParams
    .getAll('topics')
    .flatMap((text) => text.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** Returns the distinct named topics if the caller may read all of them. Throws 422 for too many, 404, 401, 403. */
export async function loadTopicsByName(
  directory: Directory,
  caller: Caller,
  names: readonly string[],
): Promise<NamedTopic[]> {
  const nameKeys = [...new Set(names.map(topicNameKey))];
  if (nameKeys.length === 0 || nameKeys.length > streamTopicsMax)
    throw new AppError('unprocessable', `topics: must name 1 to ${streamTopicsMax} topics`);
  const found = await Promise.all(nameKeys.map((nameKey) => directory.topicByName(nameKey)));
  return readable(
    directory,
    caller,
    found.map((topic, index) => ({ topic, nameKeys: [nameKeys[index]!] })),
  );
}

/** Returns the topics of a session by their current names. Throws 404 and 403 like its creation. */
export async function loadSessionTopics(
  directory: Directory,
  caller: Caller,
  topics: readonly SessionTopic[],
): Promise<NamedTopic[]> {
  await directory.refresh({ topics: topics.map(({ id }) => id) });
  const found = await Promise.all(topics.map(({ id }) => directory.topic(id)));
  return readable(
    directory,
    caller,
    found.map((topic, index) => ({ topic, nameKeys: topics[index]!.nameKeys })),
  );
}

/** Returns all of them, or throws the first error: unknown topics before inaccessible ones. */
async function readable(
  directory: Directory,
  caller: Caller,
  found: readonly { topic: Topic | null; nameKeys: readonly string[] }[],
): Promise<NamedTopic[]> {
  const topics = found.map(({ topic, nameKeys }) => {
    if (topic === null) throw new AppError('not_found', 'Topic not found');
    return { topic, nameKeys: nameKeys.includes(topic.nameKey) ? nameKeys : [...nameKeys, topic.nameKey] };
  });
  for (const { topic } of topics) requireTopicAccess(caller, topic, 'read', await roleOf(directory, caller, topic));
  return topics;
}
