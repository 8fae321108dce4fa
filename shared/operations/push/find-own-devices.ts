import type { Device } from '../../domain/push/device.ts';
import type { Documents } from '../../ports/documents.ts';
import { devices, devicesPerAccount } from '../../collections/devices-collection.ts';

/** Returns the account's devices, newest first. */
export function findOwnDevices(documents: Documents, userId: string): Promise<Device[]> {
  return documents.find(devices, { index: 'byUser', equals: { userId }, descending: true, limit: devicesPerAccount });
}
