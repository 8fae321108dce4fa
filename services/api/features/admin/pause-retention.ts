import { pauseRetention as storePause } from '@tocsin/shared/operations/retention/operate-retention.ts';
import { retentionStateSchema, toStateJson } from '@tocsin/shared/wire/retention.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOfOperator } from '../../audit.ts';
import { textField } from '../../http/fields.ts';
import { route, type Route } from '../../http/route.ts';

const body = z
  .object({ reason: textField({ min: 1, max: 200 }) })
  .meta({ examples: [{ reason: 'investigating a customer’s missing messages' }] });

/** `POST /admin/retention/pause` */
export function pauseRetention(deps: Pick<ApiDeps, 'clock' | 'engine' | 'makeId' | 'wholeAddress'>): Route {
  return route({
    id: 'pauseRetention',
    method: 'POST',
    path: '/admin/retention/pause',
    summary: 'Pause the removal of expired messages',
    description: 'Expired messages stay hidden. A run in progress stops within seconds and continues after the resume.',
    audience: 'operator',
    body,
    success: { status: 200, schema: retentionStateSchema, description: 'Where retention stands' },
    handle: async (context, { body: { reason } }) => ({
      status: 200,
      body: toStateJson(
        await storePause(deps.engine.documents, { now: context.now, reason }, auditOfOperator(deps, context)),
      ),
    }),
  });
}
