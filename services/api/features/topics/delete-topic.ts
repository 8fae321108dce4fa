import { topicChange } from '@tocsin/shared/domain/change.ts';
import { removeTopic } from '@tocsin/shared/operations/topics/remove-topic.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOf } from '../../audit.ts';
import { loadManagedTopic } from '../../http/load-topic.ts';
import { route, type Route } from '../../http/route.ts';
import { cleanUpSoon } from '../../erasure/clean-up-soon.ts';

/** `DELETE /api/topics/{topic_id}` */
export function deleteTopic(
  deps: Pick<ApiDeps, 'clock' | 'config' | 'directory' | 'engine' | 'log' | 'makeId' | 'wholeAddress'>,
): Route {
  return route({
    id: 'deleteTopic',
    method: 'DELETE',
    path: '/api/topics/{topic_id}',
    summary: 'Delete a topic with its messages, tokens and subscriptions',
    audience: 'account',
    scope: 'topics:write',
    success: { status: 204, schema: null, description: 'Gone' },
    errors: { 409: 'The topic is under legal hold.' },
    load: loadManagedTopic(deps.directory),
    async handle(context, { loaded }) {
      await removeTopic({ ...deps, documents: deps.engine.documents }, loaded.id, auditOf(deps, context));
      await deps.directory.changed(topicChange(loaded));
      await cleanUpSoon(deps, [{ topicId: loaded.id, kind: 'erase' }]);
      return { status: 204 };
    },
  });
}
