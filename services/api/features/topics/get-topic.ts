import { mayUseTopic } from '@tocsin/shared/domain/topics/access.ts';
import { topicConnections } from '@tocsin/shared/domain/messages/channels.ts';
import { hasScope } from '@tocsin/shared/domain/accounts/credentials.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { topicSchema, toTopicJson } from '@tocsin/shared/wire/topic.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { openTopicByName, roleOf } from '../../http/load-topic.ts';
import { route, type RequestContext, type Route } from '../../http/route.ts';
import { noMessages } from './describe-topics.ts';

/** `GET /api/topics/{name}` and its alias `/stats`. */
export function getTopic(
  deps: Pick<ApiDeps, 'config' | 'directory' | 'engine' | 'streams'>,
  form: 'detail' | 'stats',
): Route {
  return route({
    id: form === 'detail' ? 'getTopic' : 'getTopicStats',
    method: 'GET',
    path: form === 'detail' ? '/api/topics/{name}' : '/api/topics/{name}/stats',
    summary: form === 'detail' ? 'Get a topic by name' : 'The same as the topic itself',
    audience: 'anyone',
    isTopicRoute: true,
    success: { status: 200, schema: topicSchema.extend({ connection_count: z.int() }), description: 'The topic' },
    load: (context) => loadReadableTopic(deps, context),
    async handle(context, { loaded }) {
      const { documents, messages } = deps.engine;
      const [topic, stats, connections, role] = await Promise.all([
        documents.get(topics, loaded.id),
        messages.topicStats([loaded.id]),
        deps.streams.count(topicConnections(loaded.id)),
        roleOf(deps.directory, context.caller, loaded),
      ]);
      if (topic === null) throw new AppError('not_found', 'Topic not found');
      const canManage = mayUseTopic(context.caller, topic, 'manage', role);
      const json = toTopicJson(topic, {
        stats: stats.get(topic.id) ?? noMessages,
        canManage,
        archiveDefault: deps.config.ARCHIVE_DEFAULT,
      });
      return { status: 200, body: { ...json, connection_count: connections } };
    },
  });
}

/** Public topics require no scope, private topics do. */
async function loadReadableTopic(deps: Pick<ApiDeps, 'directory'>, context: RequestContext): Promise<Topic> {
  const { caller } = context;
  const name = context.params['name']!;
  const isLimited = caller.kind === 'account' && caller.scopes !== null && !hasScope(caller.scopes, 'topics:read');
  if (isLimited && (await deps.directory.topicByName(name))?.accessLevel === 'private') {
    throw new AppError('forbidden', 'Missing scope: topics:read');
  }
  return openTopicByName(deps.directory, caller, { name, act: 'read' });
}
