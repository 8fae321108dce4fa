import { listRuns } from '@tocsin/shared/collections/retention-runs.ts';
import { retentionRunSchema, toRunJson } from '@tocsin/shared/wire/retention.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { queryInteger } from '../../http/paging.ts';
import { route, type Route } from '../../http/route.ts';

/** `GET /admin/retention/history` */
export function listRetentionRuns(deps: Pick<ApiDeps, 'engine'>): Route {
  return route({
    id: 'listRetentionRuns',
    method: 'GET',
    path: '/admin/retention/history',
    summary: 'List the reports of retention runs',
    description: 'Reports of runs that removed messages or that an operator requested. Kept for 90 days.',
    audience: 'operator',
    query: z.object({ limit: queryInteger({ min: 1, max: 1_000 }).default(50) }),
    success: { status: 200, schema: z.array(retentionRunSchema), description: 'The newest first' },
    handle: async (_context, { query: { limit } }) => ({
      status: 200,
      body: (await listRuns(deps.engine.documents, limit)).map(toRunJson),
    }),
  });
}
