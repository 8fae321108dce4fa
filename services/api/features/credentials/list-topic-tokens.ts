import { topicTokenSchema, toTopicTokenJson } from '@tocsin/shared/wire/topic-token.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { loadTopic } from '../../http/load-topic.ts';
import { route, type Route } from '../../http/route.ts';
import { findTopicTokens } from './find-topic-tokens.ts';

/** `GET /api/topics/{topic}/access-tokens`: newest first. */
export function listTopicTokens(deps: Pick<ApiDeps, 'directory' | 'engine' | 'usage'>): Route {
  return route({
    id: 'listTopicTokens',
    method: 'GET',
    path: '/api/topics/{topic}/access-tokens',
    summary: "List a topic's access tokens",
    audience: 'account',
    scope: 'topics:read',
    success: { status: 200, schema: z.array(topicTokenSchema), description: 'The tokens, newest first' },
    load: loadTopic(deps.directory, 'manage'),
    async handle(_context, { loaded: topic }) {
      const tokens = await findTopicTokens(deps, topic.id);
      return { status: 200, body: tokens.map(toTopicTokenJson) };
    },
  });
}
