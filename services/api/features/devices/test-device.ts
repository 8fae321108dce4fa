import { AppError } from '@tocsin/shared/domain/errors.ts';
import { pushQueues, testPushJob } from '@tocsin/shared/domain/push/push-job.ts';
import { isPushConfigured, pushProviders } from '@tocsin/shared/domain/push/push-platforms.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { loadDevice } from './load-device.ts';

/** `POST /api/devices/{device_id}/test` */
export function testDevice(deps: Pick<ApiDeps, 'config' | 'engine' | 'makeId'>): Route {
  return route({
    id: 'testDevice',
    method: 'POST',
    path: '/api/devices/{device_id}/test',
    summary: 'Send a test push to a device',
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
    async handle(context, { loaded: device }) {
      if (!device.isActive) throw new AppError('invalid', 'Device is inactive');
      if (!isPushConfigured(deps, device.platform)) {
        throw new AppError('unavailable', `${pushProviders[device.platform].name} is not configured`);
      }
      await deps.engine.jobQueue.add(pushQueues.urgent, [testPushJob(deps.makeId(), device.id, context.now)]);
      return { status: 200, body: { message: 'Test push queued', device_id: device.id } };
    },
  });
}
