import { listLogConsumers } from '@tocsin/shared/collections/log-consumers.ts';
import { consumerSchema } from '@tocsin/shared/wire/consumer.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { loadTopic } from '../../http/load-topic.ts';
import { route, type Route } from '../../http/route.ts';
import { consumersOf } from './consumer-owner.ts';
import { describeConsumers } from './describe-consumers.ts';

/** `GET /api/topics/{name}/consumers`: by name. */
export function listConsumers(deps: Pick<ApiDeps, 'clock' | 'config' | 'directory' | 'engine' | 'history'>): Route {
  return route({
    id: 'listConsumers',
    method: 'GET',
    path: '/api/topics/{name}/consumers',
    summary: "List the caller's consumers of a topic",
    audience: 'anyone',
    scope: 'subscribe',
    isTopicRoute: true,
    success: { status: 200, schema: z.array(consumerSchema), description: 'The consumers by name' },
    async load(context) {
      const topic = await loadTopic(deps.directory, 'read', 'name')(context);
      return { topic, of: consumersOf(context.caller, topic.id) };
    },
    async handle(_context, { loaded: { topic, of } }) {
      return {
        status: 200,
        body: await describeConsumers(deps, topic, await listLogConsumers(deps.engine.documents, of)),
      };
    },
  });
}
