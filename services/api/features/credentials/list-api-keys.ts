import { findApiKeys } from '@tocsin/shared/collections/credentials.ts';
import { apiKeySchema, toApiKeyJson } from '@tocsin/shared/wire/api-key.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';

/** `GET /api/keys`: newest first. */
export function listApiKeys(deps: Pick<ApiDeps, 'engine' | 'usage'>): Route {
  return route({
    id: 'listApiKeys',
    method: 'GET',
    path: '/api/keys',
    summary: "List the caller's API keys",
    audience: 'account',
    scope: 'keys:read',
    success: { status: 200, schema: z.array(apiKeySchema), description: 'The keys, newest first' },
    async handle(context) {
      const keys = await deps.usage.readApiKeys(() => findApiKeys(deps.engine.documents, context.account().userId));
      return { status: 200, body: keys.map((key) => toApiKeyJson(key, context.now)) };
    },
  });
}
