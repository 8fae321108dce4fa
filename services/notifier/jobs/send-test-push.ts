import type { Device } from '@tocsin/shared/domain/push/device.ts';
import { testPushAttempts, type TestPushJob } from '@tocsin/shared/domain/push/push-job.ts';
import { pushProviders } from '@tocsin/shared/domain/push/push-platforms.ts';
import type { Job } from '@tocsin/shared/ports/job-queue.ts';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import { recordTestOutcome, type TestOutcome } from '@tocsin/shared/operations/push/record-test-outcome.ts';
import type { PushResult } from '../providers/push-gateway.ts';
import type { WatchedGateway } from '../providers/watch-provider.ts';
import type { PushDeps } from '../sending/push-deps.ts';
import { noteRefusals } from '../sending/refusal-report.ts';
import { retireDevice } from '../sending/retire-device.ts';

/** The lifetime of a test push: a user who waits for it does not expect it later. */
const lifetimeMs = 5 * 60_000;

/**
 * Sends a test push for the device's owner and records the outcome in the device. Throws after a temporary error of the
 * provider, so that the job is retried. Sends nothing five minutes after the request.
 */
export async function sendTestPush(
  deps: PushDeps,
  test: TestPushJob,
  { id: jobId, attempt }: Pick<Job, 'id' | 'attempt'>,
): Promise<void> {
  const { deviceId, requestedAt = deps.clock() } = test;
  const record = (outcome: Omit<TestOutcome, 'updatedAt'>) =>
    recordTestOutcome(deps.engine.documents, { deviceId, requestedAt }, { ...outcome, updatedAt: deps.clock() });
  const expiresAt = requestedAt + lifetimeMs;
  if (deps.clock() >= expiresAt) return record({ status: 'failed', reason: 'not sent within five minutes' });
  const device = await deps.engine.documents.get(devices, deviceId);
  if (device === null) return;
  if (!device.isActive) return record({ status: 'failed', reason: 'Device is inactive' });
  const gateway = deps.gateways.get(device.platform);
  if (gateway === undefined)
    return record({ status: 'failed', reason: `${pushProviders[device.platform].name} is not configured` });
  const result = await send(gateway, device, { collapseId: jobId.slice(0, 64), expiresAt });
  noteRefusals(deps, device.platform, [result]);
  switch (result.kind) {
    case 'accepted':
      return record({ status: 'sent', reason: null });
    case 'dead-token':
      await retireDevice(deps, device.id, { ...result, pushToken: device.pushToken, tookAt: gateway.tookAt() });
      return record({ status: 'dead_token', reason: result.reason });
    case 'rejected':
      return record({ status: 'failed', reason: result.reason });
    case 'retry':
    case 'unknown':
      await record({ status: attempt < testPushAttempts ? 'queued' : 'failed', reason: result.reason });
      throw new Error(`the test push was not accepted: ${result.reason}`);
  }
}

async function send(
  gateway: WatchedGateway,
  { pushToken }: Device,
  options: { collapseId: string; expiresAt: number },
): Promise<PushResult> {
  const [result] = await gateway.send([
    {
      pushToken,
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
      ...options,
    },
  ]);
  return result!;
}
