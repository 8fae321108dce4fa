import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { pushQueues, testPushJob } from '@tocsin/shared/domain/push/push-job.ts';
import type { Device } from '@tocsin/shared/domain/push/device.ts';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import { newId } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { engineUnderTest, enginesUnderTest } from '@tocsin/shared/testing/test-engine.ts';
import { openPushInstallation, type PushInstallation } from '../push-installation.fixtures.ts';

describe(`the outcome of a test push, ${engineUnderTest}`, () => {
  let at: PushInstallation;
  beforeEach(async () => {
    at = await openPushInstallation(enginesUnderTest());
  });
  afterEach(() => at.close());

  /** A device whose test was requested at this time; it is in the queue, and its retries do not pause. */
  async function testedDevice(requestedAt = at.clock()): Promise<Device> {
    const lastTest = { requestedAt, status: 'queued', reason: null, updatedAt: requestedAt } as const;
    const { device } = await at.addSubscriber(await at.addTopic(), { device: { lastTest } });
    await at.engine.jobQueue.add(pushQueues.urgent, [
      { ...testPushJob(newId(), device.id, requestedAt), backoffMs: 1 },
    ]);
    return device;
  }
  const lastTestOf = async ({ id }: Device) => (await at.engine.documents.get(devices, id))!.lastTest;

  test.each([
    { response: 'ok', status: 'sent', reason: null },
    { response: 'DeviceNotRegistered', status: 'dead_token', reason: 'DeviceNotRegistered' },
    { response: 'MessageTooBig', status: 'failed', reason: expect.stringContaining('MessageTooBig') },
  ])('is $status when Expo responds with $response', async ({ response, ...expected }) => {
    const device = await testedDevice();
    if (response !== 'ok') at.expo.script(device.pushToken, { kind: 'ticket-error', error: response });
    await at.start();
    await eventually(async () => expect(await lastTestOf(device)).toMatchObject(expected));
    expect(at.expo.requests).toHaveLength(1);
  });

  test('is failed with the last reason after five attempts', async () => {
    const device = await testedDevice();
    at.expo.script(device.pushToken, { kind: 'ticket-error', error: 'MessageRateExceeded' });
    await at.start();
    await eventually(async () =>
      expect(await lastTestOf(device)).toMatchObject({ status: 'failed', reason: 'MessageRateExceeded' }),
    );
    expect(at.expo.requests).toHaveLength(5);
  });

  test('is failed if no notifier ran within five minutes', async () => {
    const device = await testedDevice(at.clock() - 6 * 60_000);
    await at.start();
    await eventually(async () =>
      expect(await lastTestOf(device)).toMatchObject({ status: 'failed', reason: 'not sent within five minutes' }),
    );
  });

  test('is not recorded for a test that a later one replaced', async () => {
    const device = await testedDevice(at.clock() - 1_000);
    const later = { requestedAt: at.clock(), status: 'queued', reason: null, updatedAt: at.clock() } as const;
    await at.engine.documents.update(devices, device, { lastTest: later });
    await at.start();
    await at.idle();
    expect(at.expo.pushes.filter(({ token }) => token === device.pushToken)).toHaveLength(1);
    expect(await lastTestOf(device)).toEqual(later);
  });
});
