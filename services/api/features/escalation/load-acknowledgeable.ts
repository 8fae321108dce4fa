import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import { mayUseTopic } from '@tocsin/shared/domain/topics/access.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { pathId, roleOf } from '../../http/load-topic.ts';
import type { RequestContext } from '../../http/route.ts';

export interface AcknowledgeableMessage {
  readonly message: StoredMessage;
  readonly topic: Topic;
}

/**
 * Returns the message in the path if the caller may acknowledge it: an account that can read it, or a topic token that
 * may publish. Throws 401 without a credential, and 404 otherwise, so that IDs reveal nothing.
 */
export async function loadAcknowledgeable(
  deps: Pick<ApiDeps, 'directory' | 'engine'>,
  context: RequestContext,
): Promise<AcknowledgeableMessage> {
  const { caller } = context;
  if (caller.kind === 'anonymous') throw new AppError('unauthenticated', 'Not authenticated');
  const message = await deps.engine.messages.find(pathId(context, 'message_id'));
  const isShown = message !== null && !message.isDeleted && message.expiresAt > context.now;
  const topic = isShown ? await deps.directory.topic(message.topicId) : null;
  const act = caller.kind === 'topic-token' ? 'write' : 'read';
  if (!isShown || topic === null || !mayUseTopic(caller, topic, act, await roleOf(deps.directory, caller, topic)))
    throw new AppError('not_found', 'Message not found');
  return { message, topic };
}
