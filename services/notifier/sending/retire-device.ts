import type { Device } from '@tocsin/shared/domain/push/device.ts';
import { StaleVersion, type Changes } from '@tocsin/shared/ports/documents.ts';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import type { PushDeps } from './push-deps.ts';

/** Changes of one device that can come in between. */
const attemptsMax = 5;

/** A token that a provider calls dead. */
export interface DeadToken {
  /** Absent where the provider said so later, of the token of that time. */
  readonly pushToken?: string;
  /** When the provider found out; absent where it does not say. */
  readonly since?: number | undefined;
  /** Believed the second time, unless a push was taken in between. */
  readonly isDoubtful?: true | undefined;
  /** When the provider took anybody's push last. */
  readonly tookAt?: number;
}

/**
 * Marks the device inactive, unless its token was given since: it has another one by now, or the same one again. Of a
 * token that is called dead for the first time and may not be, only the doubt is noted, and it is not believed before the provider took
 * the push of another phone. Harm prevented: a wrong environment, of which Apple says so of every phone, silences them all.
 */
export async function retireDevice(
  deps: Pick<PushDeps, 'engine' | 'log' | 'clock'>,
  deviceId: string,
  dead: DeadToken,
): Promise<void> {
  await changeDevice(deps, deviceId, (device) => {
    if (!device.isActive || (dead.pushToken !== undefined && device.pushToken !== dead.pushToken)) return null;
    if (dead.since !== undefined && (device.tokenGivenAt ?? device.lastSeen) > dead.since) return null;
    if (dead.isDoubtful !== true) return { isActive: false };
    if (device.doubtedAt === null) return { doubtedAt: deps.clock() };
    return dead.tookAt !== undefined && dead.tookAt > device.doubtedAt ? { isActive: false } : null;
  });
}

/** Forgets that the device's token was doubted: a push was taken for it. */
export async function trustToken(
  deps: Pick<PushDeps, 'engine' | 'log'>,
  deviceId: string,
  pushToken: string,
): Promise<void> {
  await changeDevice(deps, deviceId, (device) =>
    device.doubtedAt === null || device.pushToken !== pushToken ? null : { doubtedAt: null },
  );
}

async function changeDevice(
  deps: Pick<PushDeps, 'engine' | 'log'>,
  deviceId: string,
  change: (device: Device) => Changes<Device> | null,
): Promise<void> {
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const device = await deps.engine.documents.get(devices, deviceId);
    const changes = device === null ? null : change(device);
    if (device === null || changes === null) return;
    try {
      await deps.engine.documents.update(devices, device, changes);
      return;
    } catch (error) {
      if (!(error instanceof StaleVersion)) throw error;
    }
  }
  deps.log.warn(
    { deviceId },
    'a device is changed too often to note what its provider says of its token; the next push does',
  );
}
