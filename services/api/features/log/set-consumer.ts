import type { Caller } from '@tocsin/shared/domain/accounts/caller.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import { noLease, nothingLost, type LogConsumer } from '@tocsin/shared/domain/log/log-consumer.ts';
import { nameSyntaxFault, topicNameKey } from '@tocsin/shared/domain/topics/topic.ts';
import { UniqueKeyViolation, write, type Documents, type Write } from '@tocsin/shared/ports/documents.ts';
import { topicTokens } from '@tocsin/shared/collections/credentials.ts';
import {
  consumersPerOwner,
  consumersPerTopic,
  findLogConsumer,
  logConsumers,
} from '@tocsin/shared/collections/log-consumers.ts';
import { commitWithinQuota } from '@tocsin/shared/collections/quota-guards.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { consumerSchema } from '@tocsin/shared/wire/consumer.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { loadTopic } from '../../http/load-topic.ts';
import { requireOwnAccount } from '../../http/require-own-account.ts';
import { route, type Route } from '../../http/route.ts';
import { consumersOf } from './consumer-owner.ts';
import { describeConsumers } from './describe-consumers.ts';
import { givenLease, leaseHeaders, requireLease } from './lease-fields.ts';

const offsetFault = `must be a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`;

const body = z.object({
  offset: z
    .number()
    .refine((offset) => Number.isSafeInteger(offset) && offset >= 0, offsetFault)
    .meta({
      type: 'integer',
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'The offset to read next: `next_offset` of the processed page',
    }),
});

/** `PUT /api/topics/{name}/consumers/{consumer}`: stores an offset; the last write wins. */
export function setConsumer(
  deps: Pick<ApiDeps, 'clock' | 'config' | 'directory' | 'engine' | 'history' | 'makeId'>,
): Route {
  return route({
    id: 'setConsumer',
    method: 'PUT',
    path: '/api/topics/{name}/consumers/{consumer}',
    summary: 'Create or move a consumer',
    audience: 'anyone',
    scope: 'subscribe',
    isTopicRoute: true,
    reads: { headers: leaseHeaders },
    body,
    success: { status: 200, schema: consumerSchema, description: 'The consumer' },
    errors: { 409: 'The lease of `X-Lease` was lost: another program may have it.' },
    async load(context) {
      const topic = await loadTopic(deps.directory, 'read', 'name')(context);
      return { topic, of: consumersOf(context.caller, topic.id) };
    },
    async handle(context, { loaded: { topic, of }, body: { offset } }) {
      const name = context.params['consumer']!;
      const fault = nameSyntaxFault(name);
      if (fault !== null) throw new AppError('unprocessable', `consumer: ${fault}`);
      const consumer = await keep(deps, context.caller, {
        ...of,
        name,
        nameKey: topicNameKey(name),
        offset,
        updatedAt: context.now,
        placedAt: null,
        ...nothingLost,
        lease: givenLease(context.request),
      });
      const [json] = await describeConsumers(deps, topic, [consumer]);
      return { status: 200, body: json };
    },
  });
}

type Kept = Omit<LogConsumer, 'id' | 'version' | keyof typeof noLease> & { readonly lease: string | undefined };

/** Moves or creates the consumer. */
function keep(
  deps: Pick<ApiDeps, 'engine' | 'makeId'>,
  caller: Caller,
  { lease, ...kept }: Kept,
): Promise<LogConsumer> {
  const { documents } = deps.engine;
  return retryStale(async () => {
    const known = await findLogConsumer(documents, kept, kept.name);
    requireLease(known ?? noLease, lease);
    if (known !== null) {
      const { offset, updatedAt } = kept;
      const placedAt = offset < known.offset ? null : (known.placedAt ?? known.updatedAt);
      return documents.update(logConsumers, known, { offset, updatedAt, placedAt, ...nothingLost });
    }
    return make(deps, caller, { ...kept, ...noLease, id: deps.makeId(), version: 1 });
  }, wasJustMade);
}

const wasJustMade = (error: unknown): boolean =>
  error instanceof UniqueKeyViolation && error.collection === logConsumers.name;

/**
 * Stores a new consumer if the topic and its owner still exist. Consumers of tokens count for the topic and those of
 * accounts for the account, with which they are removed. Throws 403 at a limit.
 */
function make(
  { engine: { documents } }: Pick<ApiDeps, 'engine'>,
  caller: Caller,
  consumer: LogConsumer,
): Promise<LogConsumer> {
  const { topicId, ownerId } = consumer;
  return commitWithinQuota(documents, caller.kind === 'account' ? ownerId : topicId, async () => {
    const owner = await requireOwner(documents, caller, ownerId);
    const topic = await documents.get(topics, topicId);
    if (topic === null) throw new AppError('not_found', 'Topic not found');
    // Created concurrently: it is already counted and only needs to move.
    if ((await findLogConsumer(documents, consumer, consumer.name)) !== null)
      throw new UniqueKeyViolation(logConsumers.name, 'name');
    const ofTopic = await documents.count(logConsumers, { index: 'name', equals: { topicId, ownerId } });
    const ofOwner = await documents.count(logConsumers, { index: 'byOwner', equals: { ownerId } });
    if (ofTopic >= consumersPerTopic || ofOwner >= consumersPerOwner)
      throw new AppError('forbidden', 'Consumer limit reached');
    return { writes: [owner, write.require(topics, topic), write.insert(logConsumers, consumer)], result: consumer };
  });
}

async function requireOwner(documents: Documents, caller: Caller, ownerId: string): Promise<Write> {
  if (caller.kind === 'account') return requireOwnAccount(documents, ownerId);
  const token = await documents.get(topicTokens, ownerId);
  if (token === null) throw new AppError('unauthenticated', 'Could not validate credentials');
  return write.require(topicTokens, token);
}
