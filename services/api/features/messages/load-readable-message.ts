import { mayUseTopic } from '@tocsin/shared/domain/topics/access.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { pathId, roleOf } from '../../http/load-topic.ts';
import type { RequestContext } from '../../http/route.ts';

/** A message that the caller may read. */
export interface ReadableMessage {
  readonly message: StoredMessage;
  readonly topic: Topic;
  /** Whether the caller manages the topic. */
  readonly isManager: boolean;
}

/** Returns the message in the path if the caller may read it. Throws 404 otherwise, so that IDs reveal nothing. */
export async function loadReadableMessage(
  deps: Pick<ApiDeps, 'directory' | 'engine'>,
  context: RequestContext,
): Promise<ReadableMessage> {
  const caller = context.account();
  const message = await deps.engine.messages.find(pathId(context, 'message_id'));
  const topic =
    message === null || message.expiresAt <= context.now ? null : await deps.directory.topic(message.topicId);
  const role = topic === null ? null : await roleOf(deps.directory, caller, topic);
  if (message === null || topic === null || !mayUseTopic(caller, topic, 'read', role))
    throw new AppError('not_found', 'Message not found');
  return { message, topic, isManager: mayUseTopic(caller, topic, 'manage', role) };
}
