import { resumeRetention as storeResume } from '@tocsin/shared/operations/retention/operate-retention.ts';
import { retentionStateSchema, toStateJson } from '@tocsin/shared/wire/retention.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOfOperator } from '../../audit.ts';
import { route, type Route } from '../../http/route.ts';

/** `POST /admin/retention/resume` */
export function resumeRetention(deps: ApiDeps): Route {
  return route({
    id: 'resumeRetention',
    method: 'POST',
    path: '/admin/retention/resume',
    summary: 'Undo the pause',
    description:
      'What has expired meanwhile goes with the next run. Without a pause it changes nothing but the audit log.',
    audience: 'operator',
    success: { status: 200, schema: retentionStateSchema, description: 'Where retention stands' },
    handle: async (context) => ({
      status: 200,
      body: toStateJson(await storeResume(deps.engine.documents, auditOfOperator(deps, context))),
    }),
  });
}
