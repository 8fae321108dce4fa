import { topicChange } from '@tocsin/shared/domain/change.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { Topic } from '@tocsin/shared/domain/topic.ts';
import type { Audit } from '@tocsin/shared/stores/audit-log.ts';
import { retryStale } from '@tocsin/shared/stores/retry-stale.ts';
import { removeTopicWrites } from '@tocsin/shared/stores/topic-cleanups.ts';
import { topics } from '@tocsin/shared/stores/topics.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOf } from '../../audit.ts';
import { loadManagedTopic } from '../../http/load-topic.ts';
import { route, type Route } from '../../http/route.ts';
import { cleanUpSoon } from '../../clean-up-soon.ts';

/** `DELETE /api/topics/{topic_id}` */
export function deleteTopic(deps: ApiDeps): Route {
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
      await removeTopic(deps, loaded, auditOf(deps, context));
      await deps.directory.changed(topicChange(loaded));
      await cleanUpSoon(deps, [{ topicId: loaded.id, kind: 'erase' }]);
      return { status: 204 };
    },
  });
}

/**
 * Takes the topic away in one commit: from then on nothing of it can be reached, and its name is free. What it leaves
 * behind is erased by the cleanup that the commit stores. Throws 404, and 409 under legal hold.
 */
async function removeTopic(deps: ApiDeps, { id }: Topic, audit: Audit): Promise<void> {
  const { documents } = deps.engine;
  await retryStale(async () => {
    const topic = await documents.get(topics, id);
    if (topic === null) throw new AppError('not_found', 'Topic not found');
    if (topic.isHeld) throw new AppError('conflict', 'Topic is under legal hold');
    await documents.commit([
      ...removeTopicWrites(topic, { id: deps.makeId(), now: deps.clock() }),
      ...audit({ action: 'topic.deleted', subject: topic, ...(topic.teamId === null ? {} : { within: { type: 'team', id: topic.teamId } }), details: {} }),
    ]);
  });
}
