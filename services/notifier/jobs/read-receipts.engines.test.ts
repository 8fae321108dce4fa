import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { receiptsQueue } from '@tocsin/shared/domain/push/push-job.ts';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import { newPushToken } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { engineUnderTest, enginesUnderTest } from '@tocsin/shared/testing/test-engine.ts';
import { Registry } from 'prom-client';
import { openExpoGateway } from '../providers/expo-gateway.ts';
import type { PushGateway } from '../providers/push-gateway.ts';
import { openPushInstallation, type PushInstallation } from '../push-installation.fixtures.ts';

describe(`push receipts, ${engineUnderTest}`, () => {
  let at: PushInstallation;
  beforeEach(async () => {
    at = await openPushInstallation(enginesUnderTest());
  });
  afterEach(() => at.close());

  const rows = async (messageId: string) =>
    (await at.engine.deliveries.find(messageId, { limit: 10 })).map(({ deviceId, status, reason }) => ({
      deviceId,
      status,
      reason,
    }));
  const isActive = async (deviceId: string) => (await at.engine.documents.get(devices, deviceId))!.isActive;

  test('are fetched later by any notifier, recorded in the ledger, and counted if Expo rejects the credentials', async () => {
    const topic = await at.addTopic();
    const [fine, dead, bad, renewed] = [
      await at.addSubscriber(topic),
      await at.addSubscriber(topic),
      await at.addSubscriber(topic),
      await at.addSubscriber(topic),
    ];
    for (const { device } of [dead, renewed])
      at.expo.script(device.pushToken, { kind: 'receipt-error', error: 'DeviceNotRegistered' });
    at.expo.script(bad.device.pushToken, { kind: 'receipt-error', error: 'InvalidCredentials' });
    const first = await at.start({ receiptAfterMs: 1_000 });
    const message = await at.publish(topic);
    await eventually(async () => expect(await at.engine.deliveries.counts(message.id)).toMatchObject({ sent: 4 }));
    await first.close();
    await at.engine.documents.update(devices, renewed.device, { tokenGivenAt: at.clock() });
    expect(at.expo.requests).toHaveLength(1);

    const metrics = new Registry();
    await at.start({}, { metrics });
    const dead_token = { status: 'dead_token', reason: 'receipt: DeviceNotRegistered' };
    const expected = [
      { deviceId: fine.device.id, status: 'sent', reason: null },
      { deviceId: dead.device.id, ...dead_token },
      { deviceId: bad.device.id, status: 'failed', reason: 'receipt: InvalidCredentials' },
      { deviceId: renewed.device.id, ...dead_token },
    ];
    await eventually(async () =>
      expect(await rows(message.id)).toEqual(expected.sort((a, b) => (a.deviceId < b.deviceId ? -1 : 1))),
    );
    await eventually(async () => expect(await isActive(dead.device.id)).toBe(false));
    // The dead-token receipt refers to the earlier token; the new one was registered afterwards.
    expect(await Promise.all([fine, bad, renewed].map(({ device }) => isActive(device.id)))).toEqual([
      true,
      true,
      true,
    ]);
    expect(at.expo.pushes).toHaveLength(4);
    await eventually(async () =>
      expect(await metrics.getSingleMetricAsString('tocsin_push_refusals_total')).toContain(
        '{platform="expo",reason="InvalidCredentials"} 1',
      ),
    );
  });

  test('for a replaced token do not deactivate the device', async () => {
    const topic = await at.addTopic();
    const { device } = await at.addSubscriber(topic);
    at.expo.script(device.pushToken, { kind: 'receipt-error', error: 'DeviceNotRegistered' });
    const expo = openExpoGateway({ url: at.expo.url, clock: at.clock });
    const renewing: PushGateway = {
      ...expo,
      async send(batch) {
        at.setAhead(1);
        await at.engine.documents.update(devices, device, { pushToken: newPushToken.expo(), tokenGivenAt: at.clock() });
        return expo.send(batch);
      },
    };
    await at.start({ receiptAfterMs: 200 }, { gateways: new Map([['expo', renewing]]) });
    const message = await at.publish(topic);
    await eventually(async () => expect(await rows(message.id)).toMatchObject([{ status: 'dead_token' }]));
    await eventually(async () =>
      expect(await at.engine.jobQueue.counts(receiptsQueue)).toMatchObject({ delayed: 0, waiting: 0, active: 0 }),
    );
    expect(await isActive(device.id)).toBe(true);
  });

  test('that are missing are fetched again, each time after a pause as long as the push is old', async () => {
    const topic = await at.addTopic();
    const { device } = await at.addSubscriber(topic);
    at.expo.script(device.pushToken, { kind: 'receipt-error', error: 'MessageTooBig' });
    const expo = openExpoGateway({ url: at.expo.url, clock: at.clock });
    const asked: number[] = [];
    const late: PushGateway = {
      ...expo,
      receipts: (tickets) =>
        asked.push(Date.now()) < 3
          ? Promise.resolve({ kind: 'answered', results: new Map() })
          : expo.receipts!(tickets),
    };
    await at.start({ receiptAfterMs: 200 }, { gateways: new Map([['expo', late]]) });
    const message = await at.publish(topic);
    await eventually(async () =>
      expect(await rows(message.id)).toMatchObject([
        { status: 'failed', reason: expect.stringMatching(/^receipt: MessageTooBig/) },
      ]),
    );
    expect(asked).toHaveLength(3);
    expect(asked[2]! - asked[1]!).toBeGreaterThanOrEqual(380);
  });
});
