import { StaleVersion } from '@tocsin/shared/ports/documents.ts';
import { devices } from '@tocsin/shared/stores/devices-collection.ts';
import type { PushDeps } from './push-deps.ts';

/** Changes of one device that can come in between. */
const attemptsMax = 5;

/** Marks the device inactive, unless it has another token by now: it was registered again after the push was sent. */
export async function retireDevice(deps: Pick<PushDeps, 'engine' | 'log'>, deviceId: string, deadToken: string): Promise<void> {
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const device = await deps.engine.documents.get(devices, deviceId);
    if (device === null || !device.isActive || device.pushToken !== deadToken) return;
    try {
      await deps.engine.documents.update(devices, device, { isActive: false });
      return;
    } catch (error) {
      if (!(error instanceof StaleVersion)) throw error;
    }
  }
  deps.log.warn({ deviceId }, 'a device with a dead token is changed too often to be marked inactive; the next push does');
}
