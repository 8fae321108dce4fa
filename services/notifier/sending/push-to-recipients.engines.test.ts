import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { subscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { engineUnderTest, enginesUnderTest } from '@tocsin/shared/testing/test-engine.ts';
import { openExpoGateway } from '../providers/expo-gateway.ts';
import type { PushGateway, PushRequest } from '../providers/push-gateway.ts';
import { openPushInstallation, type PushInstallation } from '../push-installation.fixtures.ts';

describe(`a page of recipients, ${engineUnderTest}`, () => {
  let at: PushInstallation;
  beforeEach(async () => {
    at = await openPushInstallation(enginesUnderTest());
  });
  afterEach(() => at.close());

  test('is checked again if its first pushes were slow: users who left get nothing, and no one gets a duplicate', async () => {
    const topic = await at.addTopic();
    const subscribers = [
      await at.addSubscriber(topic),
      await at.addSubscriber(topic),
      await at.addSubscriber(topic),
      await at.addSubscriber(topic),
    ];
    const expo = openExpoGateway({ url: at.expo.url, clock: at.clock });
    const reached: string[] = [];
    const slow: PushGateway = {
      ...expo,
      batchSizeMax: 1,
      async send(batch) {
        const [{ pushToken }] = batch as [PushRequest];
        if (!subscribers.some(({ device }) => device.pushToken === pushToken)) return expo.send(batch);
        if (reached.push(pushToken) === 2) {
          at.setAhead(15_000);
          const [left] = subscribers.filter(({ device }) => !reached.includes(device.pushToken));
          await at.engine.documents.remove(subscriptions, left!.subscription.id);
        }
        return expo.send(batch);
      },
    };
    await at.start({}, { gateways: new Map([['expo', slow]]) });
    const message = await at.publish(topic);
    await at.idle();
    const tokens = at.expo.pushes.filter(({ messageId }) => messageId === message.id).map(({ token }) => token);
    expect(tokens).toHaveLength(3);
    expect(new Set(tokens).size).toBe(3);
    const rows = await at.engine.deliveries.find(message.id, { limit: 10 });
    expect(rows.map(({ status, reason }) => `${status}: ${reason}`).sort()).toEqual([
      ...Array<string>(3).fill('sent: null'),
      'skipped: unsubscribed',
    ]);
  });
});
