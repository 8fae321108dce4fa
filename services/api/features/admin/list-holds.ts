import { listHeldTopics } from '@tocsin/shared/operations/retention/set-hold.ts';
import { holdSchema, toHoldJson } from '@tocsin/shared/wire/hold.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { queryInteger } from '../../http/paging.ts';
import { route, type Route } from '../../http/route.ts';

/** `GET /admin/holds` */
export function listHolds(deps: Pick<ApiDeps, 'engine'>): Route {
  return route({
    id: 'listHolds',
    method: 'GET',
    path: '/admin/holds',
    summary: 'List the topics under legal hold',
    audience: 'operator',
    query: z.object({ limit: queryInteger({ min: 1, max: 1_000 }).default(100) }),
    success: { status: 200, schema: z.array(holdSchema), description: 'The newest topics first' },
    handle: async (_context, { query: { limit } }) => ({
      status: 200,
      body: (await listHeldTopics(deps.engine.documents, limit)).map(toHoldJson),
    }),
  });
}
