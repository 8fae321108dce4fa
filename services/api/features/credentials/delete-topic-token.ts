import { AppError } from '@tocsin/shared/domain/errors.ts';
import { topicTokens } from '@tocsin/shared/collections/credentials.ts';
import { removeTopicToken } from '@tocsin/shared/operations/credentials/remove-topic-token.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOf } from '../../audit.ts';
import { loadTopic, pathId } from '../../http/load-topic.ts';
import { route, type Route } from '../../http/route.ts';

/** `DELETE /api/topics/{topic}/access-tokens/{token_id}` */
export function deleteTopicToken(
  deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine' | 'makeId' | 'wholeAddress'>,
): Route {
  return route({
    id: 'deleteTopicToken',
    method: 'DELETE',
    path: '/api/topics/{topic}/access-tokens/{token_id}',
    summary: 'Delete a topic access token permanently',
    audience: 'account',
    scope: 'topics:write',
    success: { status: 204, schema: null, description: 'Gone' },
    load: loadTopic(deps.directory, 'manage'),
    async handle(context, { loaded: topic }) {
      const { documents } = deps.engine;
      const token = await documents.get(topicTokens, pathId(context, 'token_id'));
      const wasThere =
        token?.topicId === topic.id && (await removeTopicToken(documents, token, auditOf(deps, context)));
      if (!wasThere) throw new AppError('not_found', 'Access token not found');
      await deps.directory.changed({ kind: 'topic-token', secretHash: token.secretHash });
      return { status: 204 };
    },
  });
}
