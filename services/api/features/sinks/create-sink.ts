import { AppError } from '@tocsin/shared/domain/errors.ts';
import { newSink, sinkKinds, sinkLimits, type Sink } from '@tocsin/shared/domain/sinks/sink.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { sinkPolicyOf } from '@tocsin/shared/platform/sink-urls.ts';
import { wakeSinks } from '@tocsin/shared/operations/sinks/wake-sinks.ts';
import { makeWebhookSecret } from '@tocsin/shared/platform/secrets.ts';
import { write, type Write } from '@tocsin/shared/ports/documents.ts';
import { commitWithinQuota } from '@tocsin/shared/collections/quota-guards.ts';
import { sinks, sinkTopics } from '@tocsin/shared/collections/sinks/sinks.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { sinkSchema } from '@tocsin/shared/wire/sink.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOf } from '../../audit.ts';
import { optionalField } from '../../http/fields.ts';
import { loadManagedTopic } from '../../http/load-topic.ts';
import { requireOwnAccount } from '../../http/require-own-account.ts';
import { route, type Route } from '../../http/route.ts';
import { describeSinks } from './describe-sinks.ts';
import { noFilter, offsetField, requireSinkUrl, sinkFields } from './sink-fields.ts';

const body = z
  .object({
    name: sinkFields.name,
    kind: z.enum(sinkKinds),
    url: sinkFields.url,
    filter: optionalField(sinkFields.filter),
    from: optionalField(z.union([z.enum(['now', 'start']), offsetField], 'must be now, start or an offset')).describe(
      'The first record: one after those that exist (default), the earliest, or an offset.',
    ),
    headers: optionalField(sinkFields.headers),
  })
  .meta({ examples: [{ name: 'tickets', kind: 'webhook', url: 'https://hooks.example.com/tocsin' }] });

/** `POST /api/topics/{topic_id}/sinks` */
export function createSink(
  deps: Pick<ApiDeps, 'clock' | 'config' | 'directory' | 'engine' | 'history' | 'log' | 'makeId' | 'wholeAddress'>,
): Route {
  const policy = sinkPolicyOf(deps.config);
  return route({
    id: 'createSink',
    method: 'POST',
    path: '/api/topics/{topic_id}/sinks',
    summary: 'Send the records of a topic to a URL',
    description: 'In order and at least once. A receiver ignores repeats by `webhook-id`.',
    audience: 'account',
    scope: 'topics:write',
    body,
    success: {
      status: 201,
      schema: sinkSchema.extend({ secret: z.string() }),
      description: 'The sink; its signing secret is shown only once',
    },
    errors: { 403: 'The caller does not manage the topic, or it has 20 sinks.' },
    load: loadManagedTopic(deps.directory),
    async handle(context, { loaded: topic, body: fields }) {
      requireSinkUrl(fields.url, policy);
      const { from = 'now' } = fields;
      const first = from === 'now' ? (await deps.history.lastOffset(topic.id)) + 1 : from === 'start' ? 0 : from;
      const sink = newSink(
        {
          id: deps.makeId(),
          topicId: topic.id,
          createdBy: context.account().userId,
          name: fields.name,
          kind: fields.kind,
          url: fields.url,
          headers: fields.headers ?? {},
          filter: fields.filter ?? noFilter,
          secret: makeWebhookSecret(),
          offset: first,
        },
        context.now,
      );
      const recorded = auditOf(
        deps,
        context,
      )({
        action: 'sink.created',
        subject: sink,
        within: { type: 'topic', id: topic.id },
        details: { kind: sink.kind },
      });
      await store(deps, sink, recorded);
      await wakeOnce(deps, topic);
      const [json] = await describeSinks(deps, [sink]);
      return { status: 201, body: { ...json, secret: sink.secret } };
    },
  });
}

async function store(
  { engine: { documents } }: Pick<ApiDeps, 'engine'>,
  sink: Sink,
  recorded: readonly Write[],
): Promise<void> {
  const { topicId } = sink;
  await commitWithinQuota(documents, topicId, async () => {
    const creator = await requireOwnAccount(documents, sink.createdBy);
    const topic = await documents.get(topics, topicId);
    if (topic === null) throw new AppError('not_found', 'Topic not found');
    const count = await documents.count(sinks, { index: 'byTopic', equals: { topicId } });
    if (count >= sinkLimits.perTopic) throw new AppError('forbidden', 'Sink limit reached');
    return {
      writes: [
        creator,
        write.require(topics, topic),
        write.insert(sinks, sink),
        write.accumulate(sinkTopics, { id: topicId, head: -1 }, null),
        ...recorded,
      ],
      result: undefined,
    };
  });
}

/** A notifier that handled a record just before the sink existed did not wake it. */
async function wakeOnce(
  { clock, engine, log }: Pick<ApiDeps, 'clock' | 'engine' | 'log'>,
  topic: Topic,
): Promise<void> {
  try {
    const end = await engine.eventLog.end(topic.partition);
    await wakeSinks(engine.documents, { id: topic.id, head: end - 1 }, clock());
  } catch (error) {
    log.warn({ err: error, topicId: topic.id }, 'a new sink may wait for the next record of its topic');
  }
}
