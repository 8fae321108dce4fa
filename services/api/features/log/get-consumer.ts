import { consumerSchema } from '@tocsin/shared/wire/consumer.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { loadTopic } from '../../http/load-topic.ts';
import { route, type Route } from '../../http/route.ts';
import { loadConsumer } from './consumer-owner.ts';
import { describeConsumers } from './describe-consumers.ts';

/** `GET /api/topics/{name}/consumers/{consumer}` */
export function getConsumer(deps: Pick<ApiDeps, 'clock' | 'config' | 'directory' | 'engine' | 'history'>): Route {
  return route({
    id: 'getConsumer',
    method: 'GET',
    path: '/api/topics/{name}/consumers/{consumer}',
    summary: 'Get a consumer of the caller',
    audience: 'anyone',
    scope: 'subscribe',
    isTopicRoute: true,
    success: { status: 200, schema: consumerSchema, description: 'The consumer with its offset and lag' },
    async load(context) {
      const topic = await loadTopic(deps.directory, 'read', 'name')(context);
      return {
        topic,
        consumer: await loadConsumer(deps.engine.documents, {
          caller: context.caller,
          topicId: topic.id,
          name: context.params['consumer']!,
        }),
      };
    },
    async handle(_context, { loaded: { topic, consumer } }) {
      const [json] = await describeConsumers(deps, topic, [consumer]);
      return { status: 200, body: json };
    },
  });
}
