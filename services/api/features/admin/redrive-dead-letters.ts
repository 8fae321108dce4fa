import { redriveDeadLetters as putBack } from '@tocsin/shared/operations/push/dead-letters.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOfOperator } from '../../audit.ts';
import { optionalField, uuidField } from '../../http/fields.ts';
import { route, type Route } from '../../http/route.ts';

const body = z
  .object({
    topic: optionalField(z.string()),
    message_id: optionalField(uuidField),
    all: optionalField(z.literal(true)),
  })
  .superRefine((given, context) => {
    if ([given.topic, given.message_id, given.all].filter((one) => one !== undefined).length === 1) return;
    context.addIssue({ code: 'custom', path: ['topic'], message: 'give either topic, message_id or all' });
  })
  .meta({ examples: [{ topic: 'alarms' }] });

/** `POST /admin/push/dead-letters/redrive`. 404 `Topic not found`. */
export function redriveDeadLetters(deps: Pick<ApiDeps, 'clock' | 'engine' | 'makeId' | 'wholeAddress'>): Route {
  return route({
    id: 'redriveDeadLetters',
    method: 'POST',
    path: '/admin/push/dead-letters/redrive',
    summary: 'Retry permanently failed pushes',
    description:
      'Give exactly one of topic, message_id or all. Does not send pushes that were sent meanwhile or whose message has expired.',
    audience: 'operator',
    body,
    success: {
      status: 200,
      schema: z.object({ redriven: z.int() }),
      description: 'The number of enqueued dead letters',
    },
    errors: { 404: 'The topic does not exist.' },
    handle: async (context, { body: { topic, message_id: messageId } }) => ({
      status: 200,
      body: { redriven: await putBack(deps.engine, { topic, messageId }, auditOfOperator(deps, context)) },
    }),
  });
}
