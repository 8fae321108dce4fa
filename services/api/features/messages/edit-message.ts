import { isoOrNull } from '@tocsin/shared/domain/to-iso.ts';
import { editRecord, type MessageEdit } from '@tocsin/shared/domain/messages/message-changes.ts';
import { messageLimits, type StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { textField } from '../../http/fields.ts';
import { route, type Route } from '../../http/route.ts';
import { parseActions } from '../../http/message-extras/parse-actions.ts';
import { parseClick, parseIcon } from '../../http/message-extras/parse-extras.ts';
import { parseFields } from '../../http/message-extras/parse-fields.ts';
import { whenRestored } from '../../storing/when-restored.ts';
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
    click: z.string().nullable().optional().describe('As when publishing; null removes it.'),
    actions: z.array(z.unknown()).optional().describe('All actions, as when publishing.'),
    icon_url: z.string().nullable().optional().describe('As when publishing; null removes it.'),
    silent: z.boolean().optional(),
  })
  .meta({ examples: [{ message: 'Nightly backup finished, 12 GB', title: null }] });

/**
 * `PATCH /api/{topic_name}/messages/{message_id}`: replaces the given fields. Omitted fields stay, null removes.
 */
export function editMessage(
  deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine' | 'log' | 'makeId' | 'wholeAddress'>,
): Route {
  return route({
    id: 'editMessage',
    method: 'PATCH',
    path: '/api/{topic_name}/messages/{message_id}',
    summary: 'Edit a message',
    description:
      'Allowed for the owner of the topic and the admins of its team while the owner has the ESSENTIALS tier. Open streams get `message_edited`.',
    audience: 'account',
    scope: 'topics:write',
    body,
    errors: whenRestored,
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
      const edit = parseEdit(fields);
      const isEmpty = Object.values(edit).every((value) => value === undefined);
      const decide = (message: StoredMessage, now: number) => (isEmpty ? null : editRecord(message, edit, now));
      const { before, record } = await changeMessage(deps, context, loaded, { action: 'message.edited', decide });
      const after = record?.message ?? before;
      return {
        status: 200,
        body: { id: after.id, message: after.message, title: after.title, edited_at: isoOrNull(after.editedAt) },
      };
    },
  });
}

/** Throws one 422 that reports all invalid fields. */
function parseEdit({ message, title, click, actions, icon_url, silent }: z.output<typeof body>): MessageEdit {
  return parseFields<MessageEdit>({
    message: () => message,
    title: () => (typeof title === 'string' && title.trim() === '' ? null : title),
    click: () => (click === undefined ? undefined : parseClick(click)),
    actions: () => (actions === undefined ? undefined : parseActions(actions)),
    iconUrl: () => (icon_url === undefined ? undefined : parseIcon(icon_url)),
    isSilent: () => silent,
  });
}
