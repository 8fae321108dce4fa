import type { Device } from '@tocsin/shared/domain/push/device.ts';
import { StaleVersion, type Changes } from '@tocsin/shared/ports/documents.ts';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import type { PushDeps } from './push-deps.ts';

/** Retries after concurrent changes of one device. */
const attemptsMax = 5;

/** A token that a provider reported as dead. */
export interface DeadToken {
  /** Absent if the report refers to an earlier push. */
  readonly pushToken?: string;
  /** When the provider noticed; absent if it does not say. */
  readonly since?: number | undefined;
  /** Confirmed by a second report, unless a push was accepted in between. */
  readonly isDoubtful?: true | undefined;
  /** Time of the provider's last accepted push of any device. */
  readonly tookAt?: number;
}

/** The app registers its token again at each start, so a device in use is not doubted for this long. */
const doubtMsMax = 30 * 86_400_000;

/**
 * Deactivates the device, unless its token was registered since (a different one, or the same again). For the first
 * doubtful report of a token, only records it, and requires that the provider accepted a push of another device before
 * a second report counts. Otherwise a wrong APNs environment, which reports every token, would deactivate all devices.
 * After 30 days of doubt, a report counts in any case: an installation with one device has no other one.
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
    const isOld = deps.clock() - device.doubtedAt > doubtMsMax;
    return isOld || (dead.tookAt !== undefined && dead.tookAt > device.doubtedAt) ? { isActive: false } : null;
  });
}

/** Clears the doubt about the device's token after an accepted push. */
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
    'too many concurrent changes of a device to record its dead token; the next push tries again',
  );
}
