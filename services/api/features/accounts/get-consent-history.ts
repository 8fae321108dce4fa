import { listConsents } from '@tocsin/shared/collections/consents.ts';
import { consentSchema, toConsentJson } from '@tocsin/shared/wire/consent.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';

/** Returns the account's consents, newest first. */
export function getConsentHistory(deps: Pick<ApiDeps, 'engine'>): Route {
  return route({
    id: 'getConsentHistory',
    method: 'GET',
    path: '/auth/consent-history',
    summary: 'List the consents of the account, newest first',
    audience: 'account',
    scope: 'account:read',
    success: {
      status: 200,
      schema: z.object({ consents: z.array(consentSchema), total: z.number().int() }),
      description: 'All consent records',
    },
    handle: async (context) => {
      const found = await listConsents(deps.engine.documents, context.account().userId);
      return { status: 200, body: { consents: found.map(toConsentJson), total: found.length } };
    },
  });
}
