import { publishedSchema } from '@tocsin/shared/wire/scheduled-message.ts';
import { z } from 'zod';
import { route, type Route } from '../../http/route.ts';
import { headerOfIgnored, ignoredHeader } from './ignored-fields.ts';
import { loadWritableTopic } from './load-writable-topic.ts';
import { requireSequenceId, sourcesOf } from './message-fields.ts';
import { ntfyFields, ntfyFieldsOf } from './ntfy-fields.ts';
import { publishedMeaning, publishErrors, replayedHeader, textPublishInputs } from './publish-inputs.ts';
import { publishMessage, type PublishDeps } from './publish-message.ts';
import { publishedJson, publishReply, readFields } from './publish-to-topic.ts';
import { parseIdempotencyKey } from './reserve-key.ts';

/** `POST` and `PUT /{topic}/{sequence_id}`: ntfy's update. As a publish to the topic with this sequence ID. */
export function publishInSequence(deps: PublishDeps, method: 'POST' | 'PUT'): Route {
  return route({
    id: method === 'POST' ? 'publishInSequence' : 'publishInSequenceByPut',
    method,
    path: '/{topic}/{sequence_id}',
    summary: 'Publish a message with a sequence ID',
    description: 'As `POST /{topic}` with this sequence ID, which takes precedence over one in headers and query.',
    audience: 'anyone',
    scope: 'publish',
    isTopicRoute: true,
    readsBody: true,
    reads: textPublishInputs,
    success: {
      status: 200,
      schema: publishedSchema.extend({ ...ntfyFields, sequence_id: z.string() }),
      description: publishedMeaning,
      headers: { ...replayedHeader, ...ignoredHeader },
    },
    errors: { ...publishErrors, 405: 'As a sequence ID in the path, `json`, `sse` and `ws` name other resources.' },
    load: (context) => loadWritableTopic(deps, context.caller, context.params['topic']!),
    async handle(context, { loaded: topic }) {
      const sequenceId = requireSequenceId(context.params['sequence_id']!);
      const fields = { ...(await readFields(context)), sequenceIds: [sequenceId] };
      const idempotencyKey = parseIdempotencyKey(context.request.headers['idempotency-key']);
      const published = await publishMessage(deps, context.caller, { topic, fields, idempotencyKey });
      const body = {
        ...(await publishedJson(deps, context.caller, { published, topic })),
        ...ntfyFieldsOf(published.message),
        sequence_id: sequenceId,
      };
      return publishReply(published, { body, ignored: headerOfIgnored(sourcesOf(context)) });
    },
  });
}
