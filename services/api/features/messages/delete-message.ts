import { deletionRecord } from '@tocsin/shared/domain/messages/message-changes.ts';
import { toIso } from '@tocsin/shared/domain/to-iso.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { whenRestored } from '../../storing/when-restored.ts';
import { changeMessage, loadManagedMessage } from './change-message.ts';

/** `DELETE /api/{topic_name}/messages/{message_id}`: removes a message from history. */
export function deleteMessage(
  deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine' | 'log' | 'makeId' | 'wholeAddress'>,
): Route {
  return route({
    id: 'deleteMessage',
    method: 'DELETE',
    path: '/api/{topic_name}/messages/{message_id}',
    summary: 'Delete a message',
    description:
      'Allowed for the owner of the topic and the admins of its team while the owner has the ESSENTIALS tier. Open streams get `message_deleted`.',
    audience: 'account',
    scope: 'topics:write',
    errors: whenRestored,
    success: {
      status: 200,
      schema: z.object({ id: z.uuid(), deleted_at: z.iso.datetime(), message: z.literal('Message deleted') }),
      description: 'The time of the deletion. Managers of the topic can see the message for 30 more days',
    },
    load: loadManagedMessage(deps),
    async handle(context, { loaded }) {
      const { record } = await changeMessage(deps, context, loaded, {
        action: 'message.deleted',
        decide: deletionRecord,
      });
      return {
        status: 200,
        body: { id: loaded.messageId, deleted_at: toIso(record.timestamp), message: 'Message deleted' },
      };
    },
  });
}
