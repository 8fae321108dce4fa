import { apiKeySchema, toApiKeyJson } from '@tocsin/shared/wire/api-key.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { loadApiKey } from './load-api-key.ts';
import { setApiKeyActive } from './set-api-key-active.ts';

/** `POST /api/keys/{key_id}/enable` */
export function enableApiKey(deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine' | 'makeId' | 'wholeAddress'>): Route {
  return route({
    id: 'enableApiKey',
    method: 'POST',
    path: '/api/keys/{key_id}/enable',
    summary: 'Enable a revoked API key',
    description: 'An API key enables only keys with scopes that it has, and none that is valid longer than itself.',
    audience: 'account',
    scope: 'keys:write',
    errors: { 400: 'The key has expired.' },
    success: { status: 200, schema: apiKeySchema, description: 'The key, without its secret' },
    load: (context) => loadApiKey(deps.engine.documents, context),
    async handle(context) {
      const key = await setApiKeyActive(deps, context, true);
      return { status: 200, body: toApiKeyJson(key, context.now) };
    },
  });
}
