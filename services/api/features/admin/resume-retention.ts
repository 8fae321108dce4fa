import { resumeRetention as storeResume } from '@tocsin/shared/operations/retention/operate-retention.ts';
import { retentionStateSchema, toStateJson } from '@tocsin/shared/wire/retention.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOfOperator } from '../../audit.ts';
import { route, type Route } from '../../http/route.ts';

/** `POST /admin/retention/resume` */
export function resumeRetention(deps: Pick<ApiDeps, 'clock' | 'engine' | 'makeId' | 'wholeAddress'>): Route {
  return route({
    id: 'resumeRetention',
    method: 'POST',
    path: '/admin/retention/resume',
    summary: 'Undo the pause',
    description:
      'The next run removes messages that expired during the pause. Without a pause only the audit log changes.',
    audience: 'operator',
    success: { status: 200, schema: retentionStateSchema, description: 'Where retention stands' },
    handle: async (context) => ({
      status: 200,
      body: toStateJson(await storeResume(deps.engine.documents, auditOfOperator(deps, context))),
    }),
  });
}
