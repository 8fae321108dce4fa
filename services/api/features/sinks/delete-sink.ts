import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { removeSinkWrites } from '@tocsin/shared/operations/sinks/remove-sink.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOf } from '../../audit.ts';
import { route, type Route } from '../../http/route.ts';
import { findSink, loadManagedSink } from './load-sink.ts';

/** `DELETE /api/topics/{topic_id}/sinks/{sink_id}` */
export function deleteSink(deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine' | 'makeId' | 'wholeAddress'>): Route {
  return route({
    id: 'deleteSink',
    method: 'DELETE',
    path: '/api/topics/{topic_id}/sinks/{sink_id}',
    summary: 'Delete a sink with its deliveries',
    description: 'A request under way is completed.',
    audience: 'account',
    scope: 'topics:write',
    success: { status: 204, schema: null, description: 'Gone' },
    load: loadManagedSink(deps),
    async handle(context, { loaded }) {
      const { documents } = deps.engine;
      const audit = auditOf(deps, context);
      await retryStale(async () => {
        const sink = await findSink(documents, loaded.topic.id, loaded.sink.id);
        await documents.commit([
          ...(await removeSinkWrites(documents, sink)),
          ...audit({
            action: 'sink.deleted',
            subject: sink,
            within: { type: 'topic', id: sink.topicId },
            details: {},
          }),
        ]);
      });
      return { status: 204 };
    },
  });
}
