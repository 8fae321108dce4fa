import type { Device } from '@tocsin/shared/domain/device.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { devices } from '@tocsin/shared/stores/devices-collection.ts';
import { devicesMax } from './register-device.ts';

/** The account's devices, newest first. */
export function findOwnDevices(documents: Documents, userId: string): Promise<Device[]> {
  return documents.find(devices, { index: 'byUser', equals: { userId }, descending: true, limit: devicesMax });
}
