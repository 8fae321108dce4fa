import { removeApiKey } from '@tocsin/shared/operations/credentials/remove-api-key.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOf } from '../../audit.ts';
import { route, type Route } from '../../http/route.ts';
import { loadApiKey } from './load-api-key.ts';

/** `DELETE /api/keys/{key_id}` */
export function deleteApiKey(deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine' | 'makeId' | 'wholeAddress'>): Route {
  return route({
    id: 'deleteApiKey',
    method: 'DELETE',
    path: '/api/keys/{key_id}',
    summary: 'Delete an API key permanently',
    audience: 'account',
    scope: 'keys:write',
    success: { status: 204, schema: null, description: 'Gone' },
    load: (context) => loadApiKey(deps.engine.documents, context),
    async handle(context) {
      const { documents } = deps.engine;
      const key = await removeApiKey(documents, () => loadApiKey(documents, context), auditOf(deps, context));
      await deps.directory.changed({ kind: 'api-key', secretHash: key.secretHash });
      return { status: 204 };
    },
  });
}
