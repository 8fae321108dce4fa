import type { TestPushJob } from '@tocsin/shared/domain/push/push-job.ts';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import type { PushDeps } from '../sending/push-deps.ts';
import { noteRefusals } from '../sending/refusal-report.ts';
import { retireDevice } from '../sending/retire-device.ts';

/** A test push that arrives later than this confuses more than it tells. */
const lifetimeMs = 10 * 60_000;

/** Sends the test push that a device's owner asked for. Throws when the provider puts it off: the job is tried again. */
export async function sendTestPush(deps: PushDeps, job: TestPushJob, jobId: string): Promise<void> {
  const device = await deps.engine.documents.get(devices, job.deviceId);
  if (device === null || !device.isActive) return;
  const gateway = deps.gateways.get(device.platform);
  if (gateway === undefined) return;
  const results = await gateway.send([
    {
      pushToken: device.pushToken,
      content: { title: 'Tocsin', body: 'This is a test: notifications reach this device.', data: { test: true } },
      sound: 'default',
      vibrates: true,
      isUrgent: true,
      collapseId: jobId.slice(0, 64),
      expiresAt: deps.clock() + lifetimeMs,
    },
  ]);
  noteRefusals(deps, device.platform, results);
  const [result] = results;
  if (result?.kind === 'dead-token')
    return retireDevice(deps, device.id, { ...result, pushToken: device.pushToken, tookAt: gateway.tookAt() });
  if (result?.kind !== 'accepted') throw new Error(`the test push was not taken: ${result?.reason}`);
}
