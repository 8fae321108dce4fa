import { publishedSchema } from '@tocsin/shared/wire/scheduled-message.ts';
import { z } from 'zod';
import { route, type Route } from '../../http/route.ts';
import { requireSequenceId } from './message-fields.ts';
import { ntfyFields, ntfyFieldsOf } from './ntfy-fields.ts';
import { publishErrors } from './publish-inputs.ts';
import type { PublishDeps } from './publish-message.ts';
import { publishText, textPublish, textPublished } from './publish-to-topic.ts';

/** `POST` and `PUT /{topic}/{sequence_id}`: ntfy's update. As a publish to the topic with this sequence ID. */
export function publishInSequence(deps: PublishDeps, method: 'POST' | 'PUT'): Route {
  return route({
    id: method === 'POST' ? 'publishInSequence' : 'publishInSequenceByPut',
    method,
    path: '/{topic}/{sequence_id}',
    summary: 'Publish a message with a sequence ID',
    description: 'As `POST /{topic}` with this sequence ID, which takes precedence over one in headers and query.',
    ...textPublish(deps),
    success: { ...textPublished, schema: publishedSchema.extend({ ...ntfyFields, sequence_id: z.string() }) },
    errors: { ...publishErrors, 405: 'As a sequence ID in the path, `json`, `sse` and `ws` name other resources.' },
    handle(context, { loaded: topic }) {
      const sequenceId = requireSequenceId(context.params['sequence_id']!);
      return publishText(deps, context, {
        topic,
        fields: { sequenceIds: [sequenceId] },
        more: (message) => ({ ...ntfyFieldsOf(message), sequence_id: sequenceId }),
      });
    },
  });
}
