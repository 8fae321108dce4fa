import { AppError } from '@tocsin/shared/domain/errors.ts';
import { messageLimits } from '@tocsin/shared/domain/messages/message.ts';
import { publishedSchema } from '@tocsin/shared/wire/scheduled-message.ts';
import { z } from 'zod';
import { parseJson, readBody } from '../../http/read-body.ts';
import { route, type RequestContext, type Route } from '../../http/route.ts';
import { validate } from '../../http/validate.ts';
import { headerOfIgnored, ignoredHeader, ignoredJsonFields } from './ignored-fields.ts';
import { loadWritableTopic } from './load-writable-topic.ts';
import {
  extraFields,
  fieldOf,
  isMarkdown,
  parsePriority,
  givenSequence,
  parseTags,
  parseText,
  parseTitle,
  sourcesOf,
  textField,
  type FieldSources,
  type MessageFields,
} from './message-fields.ts';
import { parseFields } from '../../http/message-extras/parse-fields.ts';
import { parseDelay } from './parse-delay.ts';
import { ntfyFields, ntfyFieldsOf } from './ntfy-fields.ts';
import { publishMessage, type PublishDeps } from './publish-message.ts';
import {
  delayRule,
  jsonPublishInputs,
  publishedMeaning,
  publishErrors,
  replayedHeader,
  timezoneRule,
} from './publish-inputs.ts';
import { publishedJson, publishReply } from './publish-to-topic.ts';
import { parseIdempotencyKey } from './reserve-key.ts';

/** The fields that ntfy's clients send to the root; other fields are ignored. */
const jsonPublishSchema = z
  .object({
    topic: z.string(),
    message: z.string().meta({ minLength: 1, maxLength: messageLimits.textCodePoints }).nullish(),
    title: z.string().meta({ maxLength: messageLimits.titleCodePoints }).nullish(),
    priority: z
      .union([z.number().meta({ type: 'integer', minimum: 1, maximum: 5 }), z.string()], 'must be 1 to 5 or a name')
      .nullish(),
    tags: z
      .union(
        [z.array(z.string('must be strings')), z.string()],
        'must be an array of strings, or one comma-separated string',
      )
      .nullish(),
    markdown: z.union([z.boolean(), z.number(), z.string()], 'must be true or false').nullish(),
    click: z.string().nullish(),
    icon: z.string().nullish(),
    icon_url: z.string().nullish(),
    actions: z.union([z.array(z.unknown()), z.string()], 'must be an array or text in the short form').nullish(),
    ttl: z.string('must be a duration such as 10m').nullish(),
    silent: z.union([z.boolean(), z.number(), z.string()], 'must be true or false').nullish(),
    sequence_id: z.string().nullish(),
    delay: z
      .union([z.number(), z.string()], 'must be a duration or a time')
      .nullish()
      .meta({ description: delayRule, examples: ['30m'] }),
    timezone: z.string().nullish().describe(timezoneRule),
    ...ignoredJsonFields,
  })
  .meta({
    examples: [
      { topic: 'backups', message: 'Nightly backup finished', title: 'Backups', priority: 4, tags: ['db', 'ok'] },
    ],
  });

type JsonPublish = z.output<typeof jsonPublishSchema>;

/**
 * `POST` and `PUT /`: the message and its topic as JSON of any content type. The response also has ntfy's `event`,
 * `time` and `expires`.
 */
export function publishJson(deps: PublishDeps, method: 'POST' | 'PUT'): Route {
  return route({
    id: method === 'POST' ? 'publishJson' : 'publishJsonByPut',
    method,
    path: '/',
    summary: 'Publish a message as JSON',
    audience: 'anyone',
    scope: 'publish',
    isTopicRoute: true,
    readsBody: true,
    reads: jsonPublishInputs(jsonPublishSchema),
    errors: { ...publishErrors, 404: 'The topic does not exist.' },
    success: {
      status: 200,
      schema: publishedSchema.extend(ntfyFields),
      description: publishedMeaning,
      headers: { ...replayedHeader, ...ignoredHeader },
    },
    async handle(context) {
      const json = await readJson(context);
      const topic = await loadWritableTopic(deps, context.caller, json.topic);
      const sources = sourcesOf(context);
      const fields = mergeFields(sources, json);
      const idempotencyKey = parseIdempotencyKey(context.request.headers['idempotency-key']);
      const published = await publishMessage(deps, context.caller, { topic, fields, idempotencyKey });
      const body = {
        ...(await publishedJson(deps, context.caller, { published, topic })),
        ...ntfyFieldsOf(published.message),
      };
      return publishReply(published, { body, ignored: headerOfIgnored(sources, json) });
    },
  });
}

async function readJson(context: RequestContext): Promise<JsonPublish> {
  const value = parseJson(await readBody(context.request));
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new AppError('unprocessable', 'body: must be a JSON object');
  return validate(jsonPublishSchema, value);
}

/** Clients of ntfy send every field, with empty texts for absent ones. */
const givenText = (value: string | number | null | undefined): string | undefined =>
  value === undefined || value === null || value === '' ? undefined : String(value);

/** Headers and query supply fields that are absent or null in the JSON; present fields take precedence. */
function mergeFields(sources: FieldSources, json: JsonPublish): MessageFields {
  return parseFields({
    message: () => parseText(json.message ?? textField(sources)),
    title: () => parseTitle(json.title ?? fieldOf(sources, 'title')),
    priority: () => parsePriority(json.priority ?? fieldOf(sources, 'priority')),
    tags: () => {
      const tags = json.tags ?? fieldOf(sources, 'tags') ?? [];
      return parseTags(typeof tags === 'string' ? tags.split(',') : tags);
    },
    markdown: () => isMarkdown(String(json.markdown ?? fieldOf(sources, 'markdown') ?? '')),
    ...extraFields(
      (field) => (field === 'icon' ? (json.icon ?? json.icon_url) : json[field]) ?? fieldOf(sources, field),
    ),
    sequenceIds: () => givenSequence(json.sequence_id ?? fieldOf(sources, 'sequence_id')) ?? [],
    isResolved: () => false,
    scheduledFor: () =>
      parseDelay(
        givenText(json.delay) ?? fieldOf(sources, 'delay'),
        givenText(json.timezone) ?? fieldOf(sources, 'timezone'),
        sources.now,
      ),
  });
}
