import type { Device } from '@tocsin/shared/domain/push/device.ts';
import { write, type Changes } from '@tocsin/shared/ports/documents.ts';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { deviceSchema, toDeviceJson } from '@tocsin/shared/wire/device.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { optionalField } from '../../http/fields.ts';
import { route, type RequestContext, type Route } from '../../http/route.ts';
import { deviceFields, pushTokenFor } from './device-fields.ts';
import { freePushToken, isLostRegistration } from './free-push-token.ts';
import { loadDevice } from './load-device.ts';

const body = z.object({
  push_token: optionalField(deviceFields.pushToken),
  device_name: optionalField(deviceFields.deviceName),
  app_version: optionalField(deviceFields.appVersion),
});

/** `PUT /api/devices/{device_id}`: keeps omitted fields. */
export function updateDevice(deps: Pick<ApiDeps, 'config' | 'engine'>): Route {
  return route({
    id: 'updateDevice',
    method: 'PUT',
    path: '/api/devices/{device_id}',
    summary: 'Change a device',
    audience: 'account',
    scope: 'account:write',
    body,
    success: { status: 200, schema: deviceSchema, description: 'The device' },
    load: (context) => loadDevice(deps.engine.documents, context),
    async handle(context, { body: fields }) {
      const device = await retryStale(() => change(deps, context, fields), isLostRegistration);
      return { status: 200, body: toDeviceJson(device) };
    },
  });
}

/** A new push token activates the device and is removed from any other device. */
async function change(
  deps: Pick<ApiDeps, 'config' | 'engine'>,
  context: RequestContext,
  fields: z.output<typeof body>,
): Promise<Device> {
  const { documents } = deps.engine;
  const device = await loadDevice(documents, context);
  const set: Changes<Device> = {
    lastSeen: context.now,
    ...(fields.device_name === undefined ? {} : { deviceName: fields.device_name }),
    ...(fields.app_version === undefined ? {} : { appVersion: fields.app_version }),
  };
  if (fields.push_token === undefined) return documents.update(devices, device, set);
  const pushToken = pushTokenFor(deps, device.platform, fields.push_token);
  if (pushToken === device.pushToken) return documents.update(devices, device, { ...set, tokenGivenAt: context.now });
  const renewed = { ...set, pushToken, isActive: true, tokenGivenAt: context.now, doubtedAt: null, lastTest: null };
  const { writes } = await freePushToken(documents, { pushToken, for: device.id, userId: device.userId });
  await documents.commit([...writes, write.update(devices, device, renewed)]);
  return { ...device, ...renewed, version: device.version + 1 };
}
