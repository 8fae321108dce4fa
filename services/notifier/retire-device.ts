import { StaleVersion } from '@tocsin/shared/ports/documents.ts';
import { devices } from '@tocsin/shared/stores/devices-collection.ts';
import type { PushDeps } from './push-deps.ts';

/** Changes of one device that can come in between. */
const attemptsMax = 5;

/** A token that a provider calls dead. */
export interface DeadToken {
  readonly pushToken: string;
  /** When the provider found out; absent where it does not say. */
  readonly since?: number | undefined;
}

/** Marks the device inactive, unless it was registered again: it has another token by now, or the same one since then. */
export async function retireDevice(deps: Pick<PushDeps, 'engine' | 'log'>, deviceId: string, dead: DeadToken): Promise<void> {
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const device = await deps.engine.documents.get(devices, deviceId);
    if (device === null || !device.isActive || device.pushToken !== dead.pushToken) return;
    if (dead.since !== undefined && device.lastSeen > dead.since) return;
    try {
      await deps.engine.documents.update(devices, device, { isActive: false });
      return;
    } catch (error) {
      if (!(error instanceof StaleVersion)) throw error;
    }
  }
  deps.log.warn({ deviceId }, 'a device with a dead token is changed too often to be marked inactive; the next push does');
}
