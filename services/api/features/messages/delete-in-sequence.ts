import { publisherId } from '@tocsin/shared/domain/accounts/caller.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import { deletionRecord } from '@tocsin/shared/domain/messages/message-changes.ts';
import { messageSequenceId, messageSequences } from '@tocsin/shared/collections/message-sequences.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { openTopicByName } from '../../http/load-topic.ts';
import { route, type RequestContext, type Route } from '../../http/route.ts';
import { whenRestored } from '../../storing/when-restored.ts';
import { changeMessage, requireChangeable, type ManagedMessage } from './change-message.ts';

type DeleteDeps = Pick<ApiDeps, 'clock' | 'directory' | 'engine' | 'log' | 'makeId' | 'wholeAddress'>;

/** `DELETE /{topic}/{sequence_id}`: as ntfy's, for those who may delete the message. */
export function deleteInSequence(deps: DeleteDeps): Route {
  return route({
    id: 'deleteInSequence',
    method: 'DELETE',
    path: '/{topic}/{sequence_id}',
    summary: 'Delete the message with a sequence ID',
    description:
      'Deletes the message that the caller published with this sequence ID, as `DELETE /api/{topic_name}/messages/{message_id}`.',
    audience: 'account',
    scope: 'topics:write',
    isTopicRoute: true,
    success: {
      status: 200,
      schema: z.object({
        id: z.uuid(),
        time: z.int(),
        event: z.literal('message_delete'),
        topic: z.string(),
        sequence_id: z.string(),
      }),
      description: 'The deletion, as clients of ntfy read it; `time` is in Unix seconds',
    },
    errors: {
      405: '`json`, `sse` and `ws` name other resources.',
      ...whenRestored,
    },
    load: (context) => loadInSequence(deps, context),
    async handle(context, { loaded }) {
      const { record } = await changeMessage(deps, context, loaded, {
        action: 'message.deleted',
        decide: deletionRecord,
      });
      return {
        status: 200,
        body: {
          id: loaded.messageId,
          time: Math.floor(record.timestamp / 1_000),
          event: 'message_delete',
          topic: loaded.topic.name,
          sequence_id: context.params['sequence_id']!,
        },
      };
    },
  });
}

async function loadInSequence(deps: DeleteDeps, { caller, params, now }: RequestContext): Promise<ManagedMessage> {
  const topic = await openTopicByName(deps.directory, caller, { name: params['topic']!, act: 'manage' });
  const of = { publisher: publisherId(caller), topicId: topic.id, sequenceId: params['sequence_id']! };
  const sequence = await deps.engine.documents.get(messageSequences, messageSequenceId(of));
  if (sequence === null) throw new AppError('not_found', 'Message not found');
  const { messageId } = sequence;
  await requireChangeable(deps, { topic, messageId }, now);
  return { topic, messageId };
}
