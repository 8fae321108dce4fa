import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import { pushQueues, testPushJob } from '@tocsin/shared/domain/push/push-job.ts';
import { isPushConfigured, pushProviders } from '@tocsin/shared/domain/push/push-platforms.ts';
import { recordTestOutcome } from '@tocsin/shared/operations/push/record-test-outcome.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type RequestContext, type Route } from '../../http/route.ts';
import { loadDevice } from './load-device.ts';

/** `POST /api/devices/{device_id}/test` */
export function testDevice(deps: Pick<ApiDeps, 'config' | 'engine' | 'makeId'>): Route {
  return route({
    id: 'testDevice',
    method: 'POST',
    path: '/api/devices/{device_id}/test',
    summary: 'Send a test push to a device',
    description: '`last_test` of the device then shows its outcome, within five minutes.',
    audience: 'account',
    scope: 'account:write',
    errors: {
      400: 'The device is inactive.',
      503: 'The provider of its platform is not configured, or a component is unavailable.',
    },
    success: {
      status: 200,
      schema: z.object({ message: z.string(), device_id: z.uuid() }),
      description: 'The push is queued',
    },
    load: (context) => loadDevice(deps.engine.documents, context),
    async handle(context, { loaded: { id } }) {
      const { documents, jobQueue } = deps.engine;
      const requestedAt = context.now;
      await retryStale(() => startTest(deps, context));
      try {
        await jobQueue.add(pushQueues.urgent, [testPushJob(deps.makeId(), id, requestedAt)]);
      } catch (error) {
        const outcome = { status: 'failed', reason: 'Queue is unavailable', updatedAt: requestedAt } as const;
        await recordTestOutcome(documents, { deviceId: id, requestedAt }, outcome);
        throw error;
      }
      return { status: 200, body: { message: 'Test push queued', device_id: id } };
    },
  });
}

/** Records the test as queued before its job exists, so that the job finds it. */
async function startTest(deps: Pick<ApiDeps, 'config' | 'engine'>, context: RequestContext): Promise<void> {
  const { documents } = deps.engine;
  const device = await loadDevice(documents, context);
  if (!device.isActive) throw new AppError('invalid', 'Device is inactive');
  if (!isPushConfigured(deps, device.platform)) {
    throw new AppError('unavailable', `${pushProviders[device.platform].name} is not configured`);
  }
  const { now } = context;
  const lastTest = { requestedAt: now, status: 'queued', reason: null, updatedAt: now } as const;
  await documents.update(devices, device, { lastTest });
}
