import { topicTokenPrefix, type TopicToken } from '@tocsin/shared/domain/accounts/credentials.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import { hashSecret, makeSecret } from '@tocsin/shared/platform/secrets.ts';
import { write, type Documents, type Write } from '@tocsin/shared/ports/documents.ts';
import { topicTokens } from '@tocsin/shared/collections/credentials.ts';
import { commitWithinQuota } from '@tocsin/shared/collections/quota-guards.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { topicTokenSchema, toTopicTokenJson } from '@tocsin/shared/wire/topic-token.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOf } from '../../audit.ts';
import { optionalField } from '../../http/fields.ts';
import { loadTopic } from '../../http/load-topic.ts';
import { route, type Route } from '../../http/route.ts';
import { credentialFields, expiryOf } from './credential-fields.ts';

/** Tokens of one topic. */
export const topicTokensMax = 100;

const body = z
  .object({
    name: credentialFields.name,
    permissions: credentialFields.permissions,
    expires_at: optionalField(credentialFields.expiresAt),
  })
  .meta({ examples: [{ name: 'dashboard', permissions: ['read'] }] });

/** `POST /api/topics/{topic}/access-tokens` */
export function createTopicToken(
  deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine' | 'makeId' | 'wholeAddress'>,
): Route {
  return route({
    id: 'createTopicToken',
    method: 'POST',
    path: '/api/topics/{topic}/access-tokens',
    summary: 'Create a topic access token',
    audience: 'account',
    scope: 'topics:write',
    body,
    success: {
      status: 201,
      schema: topicTokenSchema.extend({ token: z.string() }),
      description: 'The token; its secret is shown only once',
    },
    load: loadTopic(deps.directory, 'manage'),
    async handle(context, { loaded: topic, body: fields }) {
      const caller = context.account();
      const expiresAt = expiryOf(caller, fields.expires_at, context.now);
      const secret = makeSecret(topicTokenPrefix);
      const token: TopicToken = {
        id: deps.makeId(),
        version: 1,
        topicId: topic.id,
        createdBy: caller.userId,
        name: fields.name,
        secretHash: hashSecret(secret),
        permissions: fields.permissions,
        createdAt: context.now,
        expiresAt,
        lastUsedAt: null,
      };
      const recorded = auditOf(
        deps,
        context,
      )({
        action: 'topic_token.created',
        subject: token,
        within: { type: 'topic', id: topic.id },
        details: { permissions: token.permissions, expires_at: token.expiresAt },
      });
      await store(deps.engine.documents, token, recorded);
      return { status: 201, body: { ...toTopicTokenJson(token), token: secret } };
    },
  });
}

async function store(documents: Documents, token: TopicToken, recorded: readonly Write[]): Promise<void> {
  const { topicId } = token;
  await commitWithinQuota(documents, topicId, async () => {
    const topic = await documents.get(topics, topicId);
    if (topic === null) throw new AppError('not_found', 'Topic not found');
    const count = await documents.count(topicTokens, { index: 'byTopic', equals: { topicId } });
    if (count >= topicTokensMax) throw new AppError('forbidden', 'Access token limit reached');
    return { writes: [write.require(topics, topic), write.insert(topicTokens, token), ...recorded], result: undefined };
  });
}
