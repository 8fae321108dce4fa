import { describePlan } from '@tocsin/shared/operations/retention/retention-plan.ts';
import { retentionPlanSchema } from '@tocsin/shared/wire/retention.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { queryInteger } from '../../http/paging.ts';
import { route, type Route } from '../../http/route.ts';
import { timeField } from '../../http/time-field.ts';

/** `GET /admin/retention/plan` */
export function planRetention({ engine, config }: Pick<ApiDeps, 'config' | 'engine'>): Route {
  return route({
    id: 'planRetention',
    method: 'GET',
    path: '/admin/retention/plan',
    summary: 'Show which messages would be removed',
    description:
      'The stored messages that expire at or before a time, by topic and tier of its owner. Removes nothing. Takes some seconds with a million expired messages.',
    audience: 'operator',
    query: z.object({
      up_to: timeField('endOfDay')
        .optional()
        .describe('Now by default; a time in the future shows the messages that will have expired.'),
      limit: queryInteger({ min: 1, max: 1_000 })
        .default(100)
        .describe('Limits the listed topics; the sums include all.'),
    }),
    success: { status: 200, schema: retentionPlanSchema, description: 'The plan and the state of retention' },
    handle: async ({ now }, { query: { up_to: upTo = now, limit } }) => ({
      status: 200,
      body: await describePlan(engine, { upTo, now, limit, isSet: config.RETENTION_PROTECT_CONSUMERS }),
    }),
  });
}
