import { AppError } from '@tocsin/shared/domain/errors.ts';
import { confirmPlan, requestRun } from '@tocsin/shared/operations/retention/operate-retention.ts';
import { toIso } from '@tocsin/shared/domain/to-iso.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOfOperator } from '../../audit.ts';
import { route, type Route } from '../../http/route.ts';
import { timeField } from '../../http/time-field.ts';

const queuedRunSchema = z.object({ run_id: z.string(), up_to: z.iso.datetime(), message: z.string() });

const body = z
  .object({
    up_to: timeField('endOfDay'),
    protect_consumers: z
      .boolean()
      .default(false)
      .describe(
        'Keep records that a consumer has not read for up to 7 days after their expiry, in all runs of the next 7 days.',
      ),
  })
  .meta({ examples: [{ up_to: '2030-01-31T12:00:00.000Z' }] });

const forms = {
  run: {
    id: 'runRetention',
    summary: 'Remove expired messages',
    act: requestRun,
    description:
      '`up_to` is the time of a plan. A worker runs it within its limits: a plan that needs confirmation waits for it. The history has its report, unless another run started first or retention was paused.',
    conflict: 'Retention is paused, or a run is in progress.',
  },
  confirm: {
    id: 'confirmRetention',
    summary: 'Confirm the pending plan',
    act: confirmPlan,
    description: '`up_to` must be the time of the pending plan, so that only a plan that was seen can be confirmed.',
    conflict: 'No plan up to this time is pending.',
  },
} as const;

/**
 * `POST /admin/retention/run` and `POST /admin/retention/confirm`. 422 for a time in the future, 409 as described by
 * the form.
 */
export function runRetention(
  deps: Pick<ApiDeps, 'clock' | 'engine' | 'makeId' | 'wholeAddress'>,
  form: keyof typeof forms,
): Route {
  const { act, conflict, ...words } = forms[form];
  return route({
    ...words,
    method: 'POST',
    path: `/admin/retention/${form}`,
    audience: 'operator',
    body,
    success: { status: 202, schema: queuedRunSchema, description: 'The run is queued' },
    errors: { 409: conflict },
    handle: async (context, { body: { up_to: upTo, protect_consumers: protects } }) => {
      if (upTo > context.now) throw new AppError('unprocessable', 'up_to: must not be in the future');
      const id = deps.makeId();
      const { documents, jobQueue } = deps.engine;
      await act(
        { documents, openJobQueue: async () => jobQueue },
        { id, upTo, startedBy: 'api' },
        auditOfOperator(deps, context),
        protects ? context.now : null,
      );
      return { status: 202, body: { run_id: id, up_to: toIso(upTo), message: 'Run queued' } };
    },
  });
}
