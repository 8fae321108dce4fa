import { topicChange } from '@tocsin/shared/domain/change.ts';
import { setEscalation } from '@tocsin/shared/operations/escalation/set-escalation.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOf } from '../../audit.ts';
import { loadManagedTopic } from '../../http/load-topic.ts';
import { route, type Route } from '../../http/route.ts';

/** `DELETE /api/topics/{topic_id}/escalation` */
export function deleteEscalation(
  deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine' | 'makeId' | 'wholeAddress'>,
): Route {
  return route({
    id: 'deleteEscalation',
    method: 'DELETE',
    path: '/api/topics/{topic_id}/escalation',
    summary: 'Delete the escalation policy of a topic',
    description: 'Messages that wait for an acknowledgement continue to wait, without repeats and steps.',
    audience: 'account',
    scope: 'topics:write',
    success: { status: 204, schema: null, description: 'Gone' },
    errors: { 404: 'The topic does not exist or has no policy.' },
    load: loadManagedTopic(deps.directory),
    async handle(context, { loaded }) {
      const topic = await setEscalation(
        { ...deps, documents: deps.engine.documents },
        { topicId: loaded.id, policy: null },
        auditOf(deps, context),
      );
      await deps.directory.changed(topicChange(topic));
      return { status: 204 };
    },
  });
}
