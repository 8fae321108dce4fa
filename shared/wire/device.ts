import { z } from 'zod';
import { deviceTestStatuses, platforms, type Device, type DeviceTest } from '../domain/push/device.ts';
import { toIso } from '../domain/to-iso.ts';

export const deviceSchema = z
  .object({
    id: z.uuid(),
    user_id: z.uuid(),
    push_token: z.string(),
    platform: z.enum(platforms),
    device_id: z.string(),
    device_name: z.string().nullable(),
    app_version: z.string().nullable(),
    is_active: z.boolean(),
    created_at: z.iso.datetime(),
    last_seen: z.iso.datetime(),
    last_test: z
      .object({
        requested_at: z.iso.datetime(),
        status: z.enum(deviceTestStatuses),
        reason: z.string().nullable(),
        updated_at: z.iso.datetime(),
      })
      .nullable(),
  })
  .meta({ id: 'Device' });

export function toDeviceJson(device: Device): z.infer<typeof deviceSchema> {
  return {
    id: device.id,
    user_id: device.userId,
    push_token: device.pushToken,
    platform: device.platform,
    device_id: device.deviceId,
    device_name: device.deviceName,
    app_version: device.appVersion,
    is_active: device.isActive,
    created_at: toIso(device.createdAt),
    last_seen: toIso(device.lastSeen),
    last_test: device.lastTest === null ? null : toTestJson(device.lastTest),
  };
}

const toTestJson = ({ requestedAt, status, reason, updatedAt }: DeviceTest) => ({
  requested_at: toIso(requestedAt),
  status,
  reason,
  updated_at: toIso(updatedAt),
});
