import type { DeviceTest } from '../../domain/push/device.ts';
import type { Documents } from '../../ports/documents.ts';
import { devices } from '../../collections/devices-collection.ts';
import { retryStale } from '../../documents/retry-stale.ts';

export type TestOutcome = Pick<DeviceTest, 'status' | 'reason' | 'updatedAt'>;

/**
 * Records the outcome of the test push that was requested at this time. Does nothing if a later one replaced it, or if
 * the device got another push token or was deleted. Only `sent` replaces a final outcome.
 */
export async function recordTestOutcome(
  documents: Documents,
  test: { readonly deviceId: string; readonly requestedAt: number },
  outcome: TestOutcome,
): Promise<void> {
  await retryStale(async () => {
    const device = await documents.get(devices, test.deviceId);
    if (device?.lastTest?.requestedAt !== test.requestedAt) return;
    if (device.lastTest.status !== 'queued' && outcome.status !== 'sent') return;
    await documents.update(devices, device, { lastTest: { requestedAt: test.requestedAt, ...outcome } });
  });
}
