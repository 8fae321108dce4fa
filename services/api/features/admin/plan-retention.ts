import { describePlan } from '@tocsin/shared/operations/retention/retention-plan.ts';
import { retentionPlanSchema } from '@tocsin/shared/wire/retention.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { queryInteger } from '../../http/paging.ts';
import { route, type Route } from '../../http/route.ts';
import { timeField } from '../../http/time-field.ts';

/** `GET /admin/retention/plan` */
export function planRetention({ engine }: ApiDeps): Route {
  return route({
    id: 'planRetention',
    method: 'GET',
    path: '/admin/retention/plan',
    summary: 'Which messages would be removed',
    description:
      'What has expired at or before a time and is still stored, by topic and by the tier of its owner. It removes nothing. With a million expired messages it takes some seconds.',
    audience: 'operator',
    query: z.object({
      up_to: timeField('endOfDay')
        .optional()
        .describe('Now by default; one to come shows what will have expired by then.'),
      limit: queryInteger({ min: 1, max: 1_000 }).default(100).describe('Of the topics; the sums are of all.'),
    }),
    success: { status: 200, schema: retentionPlanSchema, description: 'The plan, and where retention stands' },
    handle: async ({ now }, { query: { up_to: upTo = now, limit } }) => ({
      status: 200,
      body: await describePlan(engine, { upTo, now, limit }),
    }),
  });
}
