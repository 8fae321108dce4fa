import type { Device } from '@tocsin/shared/domain/push/device.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import { write, type Documents } from '@tocsin/shared/ports/documents.ts';
import { devices, devicesPerAccount } from '@tocsin/shared/collections/devices-collection.ts';
import { commitWithinQuota, type Prepared } from '@tocsin/shared/collections/quota-guards.ts';
import { deviceSchema, toDeviceJson } from '@tocsin/shared/wire/device.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { optionalField } from '../../http/fields.ts';
import { requireOwnAccount } from '../../http/require-own-account.ts';
import { route, type Route } from '../../http/route.ts';
import { deviceFields, pushTokenFor } from './device-fields.ts';
import { freePushToken, isLostRegistration } from './free-push-token.ts';

const body = z
  .object({
    push_token: deviceFields.pushToken,
    platform: deviceFields.platform,
    device_id: deviceFields.deviceId,
    device_name: optionalField(deviceFields.deviceName),
    app_version: optionalField(deviceFields.appVersion),
  })
  .meta({
    examples: [
      {
        push_token: 'ExponentPushToken[xxxxxxxxxxxxxxxxxxxxxx]',
        platform: 'expo',
        device_id: 'kitchen-tablet',
        device_name: 'Tablet in the kitchen',
      },
      {
        push_token: '{"endpoint":"https://fcm.googleapis.com/fcm/send/…","keys":{"p256dh":"…","auth":"…"}}',
        platform: 'web',
        device_id: '8f14e45f-ceea-467f-9c1a-0d2e6b3a7c55',
        device_name: 'Firefox on a laptop',
      },
    ],
  });

/** `POST /api/devices/register` */
export function registerDevice(deps: Pick<ApiDeps, 'config' | 'engine' | 'makeId'>): Route {
  return route({
    id: 'registerDevice',
    method: 'POST',
    path: '/api/devices/register',
    summary: 'Register or update a device for push notifications',
    description:
      'The `push_token` of a browser (`web`) is the JSON of its subscription, `JSON.stringify(subscription)` of the Push API, ' +
      'made with the VAPID key of the server. Its endpoint must be on a known push service.',
    audience: 'account',
    scope: 'account:write',
    body,
    success: { status: 201, schema: deviceSchema, description: 'The device' },
    async handle(context, { body: fields }) {
      const { userId } = context.account();
      const registered: Registered = {
        userId,
        pushToken: pushTokenFor(deps, fields.platform, fields.push_token),
        platform: fields.platform,
        deviceId: fields.device_id,
        deviceName: fields.device_name ?? null,
        appVersion: fields.app_version ?? null,
        isActive: true,
        lastSeen: context.now,
        tokenGivenAt: context.now,
        doubtedAt: null,
        lastTest: null,
      };
      const { documents } = deps.engine;
      const device = await commitWithinQuota(
        documents,
        userId,
        () => prepare(documents, deps.makeId, registered),
        isLostRegistration,
      );
      return { status: 201, body: toDeviceJson(device) };
    },
  });
}

type Registered = Omit<Device, 'id' | 'version' | 'createdAt'>;

/** Updates or creates the account's device with this `device_id`. The push token is removed from any other device. */
async function prepare(documents: Documents, makeId: () => string, registered: Registered): Promise<Prepared<Device>> {
  const { userId, deviceId, pushToken } = registered;
  const owner = await requireOwnAccount(documents, userId);
  const [known] = await documents.find(devices, { index: 'userDevice', equals: { userId, deviceId }, limit: 1 });
  const freed = await freePushToken(documents, { pushToken, for: known?.id ?? null, userId });
  if (known !== undefined) {
    const set = { ...registered, lastTest: known.pushToken === pushToken ? known.lastTest : null };
    const result = { ...known, ...set, version: known.version + 1 };
    return { writes: [owner, ...freed.writes, write.update(devices, known, set)], result };
  }
  const count = await documents.count(devices, { index: 'byUser', equals: { userId } });
  if (count - (freed.takesOwnDevice ? 1 : 0) >= devicesPerAccount)
    throw new AppError('forbidden', 'Device limit reached');
  const device: Device = { ...registered, id: makeId(), version: 1, createdAt: registered.lastSeen };
  return { writes: [owner, ...freed.writes, write.insert(devices, device)], result: device };
}
