import type { TestPushJob } from '@tocsin/shared/domain/push/push-job.ts';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import type { PushDeps } from '../sending/push-deps.ts';
import { noteRefusals } from '../sending/refusal-report.ts';
import { retireDevice } from '../sending/retire-device.ts';

/** The lifetime of a test push: a user who waits for it does not expect it later. */
const lifetimeMs = 5 * 60_000;

/**
 * Sends a test push for the device's owner. Throws after a temporary error of the provider, so that the job is retried.
 * Does nothing five minutes after the request.
 */
export async function sendTestPush(deps: PushDeps, job: TestPushJob, jobId: string): Promise<void> {
  const expiresAt = (job.requestedAt ?? deps.clock()) + lifetimeMs;
  if (deps.clock() >= expiresAt) return;
  const device = await deps.engine.documents.get(devices, job.deviceId);
  if (device === null || !device.isActive) return;
  const gateway = deps.gateways.get(device.platform);
  if (gateway === undefined) return;
  const results = await gateway.send([
    {
      pushToken: device.pushToken,
      content: {
        title: 'Tocsin',
        body: 'This is a test: notifications reach this device.',
        category: null,
        data: { test: true },
      },
      level: 'default',
      sound: 'default',
      vibrates: true,
      badge: null,
      collapseId: jobId.slice(0, 64),
      expiresAt,
    },
  ]);
  noteRefusals(deps, device.platform, results);
  const [result] = results;
  if (result?.kind === 'dead-token')
    return retireDevice(deps, device.id, { ...result, pushToken: device.pushToken, tookAt: gateway.tookAt() });
  if (result?.kind !== 'accepted') throw new Error(`the test push was not accepted: ${result?.reason}`);
}
