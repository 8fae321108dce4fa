import { apiKeySchema, toApiKeyJson } from '@tocsin/shared/wire/api-key.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { loadApiKey } from './load-api-key.ts';
import { setApiKeyActive } from './set-api-key-active.ts';

/** `POST /api/keys/{key_id}/revoke` */
export function revokeApiKey(deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine' | 'makeId' | 'wholeAddress'>): Route {
  return route({
    id: 'revokeApiKey',
    method: 'POST',
    path: '/api/keys/{key_id}/revoke',
    summary: 'Revoke an API key until it is enabled again',
    audience: 'account',
    scope: 'keys:write',
    success: { status: 200, schema: apiKeySchema, description: 'The key, without its secret' },
    load: (context) => loadApiKey(deps.engine.documents, context),
    async handle(context) {
      const key = await setApiKeyActive(deps, context, false);
      return { status: 200, body: toApiKeyJson(key, context.now) };
    },
  });
}
