import { mayUseTopic, requireTopicAccess, type TopicAct } from '@tocsin/shared/domain/topics/access.ts';
import type { Caller } from '@tocsin/shared/domain/accounts/caller.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { Role } from '@tocsin/shared/domain/teams/team.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { MessageView } from '@tocsin/shared/wire/message.ts';
import { isUuid } from '@tocsin/shared/platform/ids.ts';
import type { Directory } from '../directory/directory.ts';
import { requireAccount, type RequestContext } from './route.ts';

const topicNotFound = () => new AppError('not_found', 'Topic not found');

/** The caller's role in the topic's team; only for accounts. */
export function roleOf(directory: Directory, caller: Caller, topic: Topic): Promise<Role | null> {
  return caller.kind === 'account' ? directory.role(topic.teamId, caller.userId) : Promise.resolve(null);
}

/** What the caller sees of the topic's messages. */
export async function messageView(directory: Directory, caller: Caller, topic: Topic): Promise<MessageView> {
  if (caller.kind !== 'account') return 'reader';
  return mayUseTopic(caller, topic, 'manage', await roleOf(directory, caller, topic)) ? 'manager' : 'reader';
}

/**
 * Returns the named topic if the caller has the required access. Throws 404 for an unknown topic, 401 without a
 * credential and 403 without access.
 */
export async function openTopicByName(
  directory: Directory,
  caller: Caller,
  by: { name: string; act: TopicAct },
): Promise<Topic> {
  const topic = await directory.topicByName(by.name);
  if (topic === null) throw topicNotFound();
  requireTopicAccess(caller, topic, by.act, await roleOf(directory, caller, topic));
  return topic;
}

/** A route's `load`: the topic in the path, with the required access. */
export function loadTopic(
  directory: Directory,
  act: TopicAct,
  parameter = 'topic',
): (context: RequestContext) => Promise<Topic> {
  return (context) => openTopicByName(directory, context.caller, { name: context.params[parameter]!, act });
}

/** A route's `load`: the topic with the ID in the path, for a manager. */
export function loadManagedTopic(directory: Directory): (context: RequestContext) => Promise<Topic> {
  return async (context) => {
    // A malformed ID cannot match anything, so authenticate first.
    if (!isUuid(context.params['topic_id']!)) requireAccount(context.caller);
    const topic = await directory.topic(pathId(context, 'topic_id'));
    if (topic === null) throw topicNotFound();
    requireTopicAccess(requireAccount(context.caller), topic, 'manage', await roleOf(directory, context.caller, topic));
    return topic;
  };
}

/** Returns an ID in the path. Throws 422 if it is not a UUID. */
export function pathId(context: RequestContext, parameter: string): string {
  const id = context.params[parameter]!;
  if (!isUuid(id)) throw new AppError('unprocessable', `${parameter}: must be a UUID`);
  return id.toLowerCase();
}
