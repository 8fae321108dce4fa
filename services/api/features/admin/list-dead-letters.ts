import { listDeadLetters as findDeadLetters } from '@tocsin/shared/operations/push/dead-letters.ts';
import { deadLetterSchema, toDeadLetterJson } from '@tocsin/shared/wire/dead-letter.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { uuidField } from '../../http/fields.ts';
import { queryInteger } from '../../http/paging.ts';
import { route, type Route } from '../../http/route.ts';

/** `GET /admin/push/dead-letters`. 404 `Topic not found`. */
export function listDeadLetters(deps: Pick<ApiDeps, 'engine'>): Route {
  return route({
    id: 'listDeadLetters',
    method: 'GET',
    path: '/admin/push/dead-letters',
    summary: 'List permanently failed pushes',
    description:
      'Pushes of a message that failed for too long. Kept for 30 days, at most 10,000 in each of the two queues.',
    audience: 'operator',
    query: z.object({
      topic: z.string().optional().describe('Only of this topic.'),
      message_id: uuidField.optional().describe('Only of this message.'),
      limit: queryInteger({ min: 1, max: 1_000 }).default(100),
    }),
    success: { status: 200, schema: z.array(deadLetterSchema), description: 'The newest first' },
    errors: { 404: 'The topic does not exist.' },
    handle: async (_context, { query: { topic, message_id: messageId, limit } }) => {
      const letters = await findDeadLetters(deps.engine, { topic, messageId }, limit);
      return { status: 200, body: letters.map(toDeadLetterJson) };
    },
  });
}
