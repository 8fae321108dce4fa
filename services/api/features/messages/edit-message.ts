import { isoOrNull } from '@tocsin/shared/domain/to-iso.ts';
import { editRecord } from '@tocsin/shared/domain/messages/message-changes.ts';
import { messageLimits, type StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { textField } from '../../http/fields.ts';
import { route, type Route } from '../../http/route.ts';
import { changeMessage, loadManagedMessage } from './change-message.ts';

const body = z
  .object({
    message: textField({ min: 1, max: messageLimits.textCodePoints })
      .optional()
      .describe('The new text. Omit it to keep the text.'),
    title: textField({ min: 0, max: messageLimits.titleCodePoints })
      .nullable()
      .optional()
      .describe('The new title. Omit it to keep the title; null or blank removes it.'),
  })
  .meta({ examples: [{ message: 'Nightly backup finished, 12 GB', title: null }] });

/**
 * `PATCH /api/{topic_name}/messages/{message_id}`: replaces text and title. Omitted fields stay, a null title is
 * removed.
 */
export function editMessage(
  deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine' | 'log' | 'makeId' | 'wholeAddress'>,
): Route {
  return route({
    id: 'editMessage',
    method: 'PATCH',
    path: '/api/{topic_name}/messages/{message_id}',
    summary: 'Edit the text or the title of a message',
    description:
      'Allowed for the owner of the topic and the admins of its team while the owner has the ESSENTIALS tier. Open streams get `message_edited`.',
    audience: 'account',
    scope: 'topics:write',
    body,
    success: {
      status: 200,
      schema: z.object({
        id: z.uuid(),
        message: z.string(),
        title: z.string().nullable(),
        edited_at: z.iso.datetime().nullable(),
      }),
      description: 'The current message; `edited_at` is null if it was never edited',
    },
    load: loadManagedMessage(deps),
    async handle(context, { loaded, body: fields }) {
      const title = typeof fields.title === 'string' && fields.title.trim() === '' ? null : fields.title;
      const isEmpty = fields.message === undefined && title === undefined;
      const decide = (message: StoredMessage, now: number) =>
        isEmpty ? null : editRecord(message, { message: fields.message, title }, now);
      const { before, record } = await changeMessage(deps, context, loaded, { action: 'message.edited', decide });
      const after = record?.message ?? before;
      return {
        status: 200,
        body: { id: after.id, message: after.message, title: after.title, edited_at: isoOrNull(after.editedAt) },
      };
    },
  });
}
