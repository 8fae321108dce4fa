import { logConsumers } from '@tocsin/shared/collections/log-consumers.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { noLease } from '@tocsin/shared/domain/log/log-consumer.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { loadTopic } from '../../http/load-topic.ts';
import { route, type Route } from '../../http/route.ts';
import { loadConsumer } from './consumer-owner.ts';
import { givenLease, holdsLease, leaseHeaders, leaseLost } from './lease-fields.ts';

/** `DELETE /api/topics/{name}/consumers/{consumer}/lease`: gives the lease of `X-Lease` back before it expires. */
export function returnLease(deps: Pick<ApiDeps, 'directory' | 'engine'>): Route {
  const { documents } = deps.engine;
  return route({
    id: 'returnLease',
    method: 'DELETE',
    path: '/api/topics/{name}/consumers/{consumer}/lease',
    summary: 'Give the lease of a consumer back',
    audience: 'anyone',
    scope: 'subscribe',
    isTopicRoute: true,
    reads: { headers: leaseHeaders },
    success: { status: 204, schema: null, description: 'The consumer has no lease' },
    errors: { 409: 'The lease was lost, or it was given back.' },
    async load(context) {
      const topic = await loadTopic(deps.directory, 'read', 'name')(context);
      const of = { caller: context.caller, topicId: topic.id, name: context.params['consumer']! };
      await loadConsumer(documents, of);
      return () => loadConsumer(documents, of);
    },
    async handle({ request }, { loaded: load }) {
      await retryStale(async () => {
        const consumer = await load();
        if (!holdsLease(consumer, givenLease(request))) throw leaseLost();
        await documents.update(logConsumers, consumer, noLease);
      });
      return { status: 204 };
    },
  });
}
