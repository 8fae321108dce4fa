import { topics } from '@tocsin/shared/collections/topics.ts';
import { escalationPolicySchema } from '@tocsin/shared/wire/escalation.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { loadManagedTopic } from '../../http/load-topic.ts';
import { route, type Route } from '../../http/route.ts';
import { describeEscalation } from './describe-escalation.ts';

/** `GET /api/topics/{topic_id}/escalation` */
export function getEscalation(deps: Pick<ApiDeps, 'directory' | 'engine'>): Route {
  return route({
    id: 'getEscalation',
    method: 'GET',
    path: '/api/topics/{topic_id}/escalation',
    summary: 'Get the escalation policy of a topic',
    audience: 'account',
    scope: 'topics:read',
    success: { status: 200, schema: escalationPolicySchema, description: 'The policy' },
    errors: { 404: 'The topic does not exist or has no policy.' },
    load: loadManagedTopic(deps.directory),
    async handle(_, { loaded: { id } }) {
      const { documents } = deps.engine;
      const topic = await documents.get(topics, id);
      return { status: 200, body: await describeEscalation(documents, topic?.escalation ?? null) };
    },
  });
}
