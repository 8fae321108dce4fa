import { logConsumers } from '@tocsin/shared/collections/log-consumers.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { loadTopic } from '../../http/load-topic.ts';
import { route, type Route } from '../../http/route.ts';
import { consumerNotFound, loadConsumer } from './consumer-owner.ts';

/** `DELETE /api/topics/{name}/consumers/{consumer}` */
export function deleteConsumer(deps: Pick<ApiDeps, 'directory' | 'engine'>): Route {
  const { documents } = deps.engine;
  return route({
    id: 'deleteConsumer',
    method: 'DELETE',
    path: '/api/topics/{name}/consumers/{consumer}',
    summary: 'Delete a consumer',
    audience: 'anyone',
    scope: 'subscribe',
    isTopicRoute: true,
    success: { status: 204, schema: null, description: 'Gone' },
    async load(context) {
      const topic = await loadTopic(deps.directory, 'read', 'name')(context);
      return loadConsumer(documents, { caller: context.caller, topicId: topic.id, name: context.params['consumer']! });
    },
    async handle(_context, { loaded: consumer }) {
      if (!(await documents.remove(logConsumers, consumer.id))) throw consumerNotFound();
      return { status: 204 };
    },
  });
}
