import type { Device } from '@tocsin/shared/domain/push/device.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import { pathId } from '../../http/load-topic.ts';
import type { RequestContext } from '../../http/route.ts';

export const deviceNotFound = () => new AppError('not_found', 'Device not found');

/** Returns the caller's device with the ID in the path. Throws 404 for any other device. */
export async function loadDevice(documents: Documents, context: RequestContext): Promise<Device> {
  const { userId } = context.account();
  const device = await documents.get(devices, pathId(context, 'device_id'));
  if (device === null || device.userId !== userId) throw deviceNotFound();
  return device;
}
