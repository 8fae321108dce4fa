import type { Caller } from '@tocsin/shared/domain/accounts/caller.ts';
import type { Message } from '@tocsin/shared/domain/messages/message.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { toMessageJson } from '@tocsin/shared/wire/message.ts';
import { publishedSchema, toWaitingJson } from '@tocsin/shared/wire/scheduled-message.ts';
import type { RequestContext, Reply, Route } from '../../http/route.ts';
import { route } from '../../http/route.ts';
import { decodeUtf8, readBody } from '../../http/read-body.ts';
import { messageView } from '../../http/load-topic.ts';
import { headerOfIgnored, ignoredHeader } from './ignored-fields.ts';
import { loadWritableTopic } from './load-writable-topic.ts';
import {
  fieldOf,
  hasNoSideFields,
  noSideFields,
  parseText,
  sideFields,
  sourcesOf,
  textField,
  type FieldSources,
  type MessageFields,
} from './message-fields.ts';
import { parseFields } from '../../http/message-extras/parse-fields.ts';
import { publishMessage, type Published, type PublishDeps } from './publish-message.ts';
import { publishedMeaning, publishErrors, replayedHeader, textPublishInputs } from './publish-inputs.ts';
import { parseIdempotencyKey } from './reserve-key.ts';
import { renderTemplate } from './templates/render-template.ts';

/** `POST` and `PUT /{topic}`: the body is the text, for any content type. */
export function publishToTopic(deps: PublishDeps, method: 'POST' | 'PUT'): Route {
  return route({
    id: method === 'POST' ? 'publish' : 'publishByPut',
    method,
    path: '/{topic}',
    summary: 'Publish a message to a topic',
    ...textPublish(deps),
    success: { ...textPublished, schema: publishedSchema },
    errors: publishErrors,
    handle: (context, { loaded: topic }) => publishText(deps, context, { topic }),
  });
}

/** What the routes have in common whose body is the text. */
export const textPublish = (deps: Pick<PublishDeps, 'clock' | 'directory'>) =>
  ({
    audience: 'anyone',
    scope: 'publish',
    isTopicRoute: true,
    readsBody: true,
    reads: textPublishInputs,
    load: (context: RequestContext) => loadWritableTopic(deps, context.caller, context.params['topic']!),
  }) as const;

/** Their success, without its schema. */
export const textPublished = {
  status: 200,
  description: publishedMeaning,
  headers: { ...replayedHeader, ...ignoredHeader },
} as const;

export interface TextPublish {
  readonly topic: Topic;
  /** Replace those of the request. */
  readonly fields?: Partial<MessageFields>;
  /** Additional fields of the response. */
  readonly more?: (message: Message) => object;
}

/** Publishes the text of a request. */
export async function publishText(
  deps: PublishDeps,
  context: RequestContext,
  { topic, fields, more }: TextPublish,
): Promise<Reply> {
  const bytes = await readBody(context.request);
  const sources = sourcesOf(context);
  const input = { ...readFields(bytes, sources), ...fields };
  const idempotencyKey = parseIdempotencyKey(sources.headers['idempotency-key']);
  const published = await publishMessage(deps, context.caller, { topic, fields: input, idempotencyKey });
  const body = { ...(await publishedJson(deps, context.caller, { published, topic })), ...more?.(published.message) };
  return publishReply(published, { body, ignored: headerOfIgnored(sources) });
}

/** The fields of a publish whose body is the text or, with a template, a webhook. */
function readFields(bytes: Buffer, sources: FieldSources): MessageFields {
  const template = fieldOf(sources, 'template');
  if (template !== undefined) {
    const rendered = renderTemplate(template, bytes, sources.headers);
    return parseFields({ message: () => rendered.message, ...sideFields(sources, rendered) });
  }
  const message = () => parseText(bytes.length > 0 ? decodeUtf8(bytes, 'message') : textField(sources));
  // Parsing the absent fields would take 1 µs of the 65 per publish on 64 connections (profiled).
  if (hasNoSideFields(sources)) return { message: message(), ...noSideFields };
  return parseFields({ message, ...sideFields(sources) });
}

/** Returns the message as the caller sees it, and if it was scheduled, its time. */
export async function publishedJson(
  { directory }: Pick<PublishDeps, 'directory'>,
  caller: Caller,
  { published: { message, scheduledFor }, topic }: { published: Published; topic: Topic },
): Promise<object> {
  const view = await messageView(directory, caller, topic);
  return scheduledFor === null
    ? toMessageJson(message, topic.name, view)
    : toWaitingJson(message, { topicName: topic.name, view, scheduledFor });
}

/** Success is always 200, also for a replay of the same key. `ignored` is the result of `headerOfIgnored`. */
export function publishReply(
  published: Published,
  { body, ignored }: { readonly body: object; readonly ignored: Readonly<Record<string, string>> },
): Reply {
  return {
    status: 200,
    body,
    headers: { ...ignored, ...(published.isReplay ? { 'Idempotency-Replayed': 'true' } : published.headers) },
  };
}
