import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { platforms, type Platform } from '@tocsin/shared/domain/push/device.ts';
import { pushQueues, testPushJob } from '@tocsin/shared/domain/push/push-job.ts';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { loadConfig, type Config } from '@tocsin/shared/platform/load-config.ts';
import { newId, newPushToken } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { startApnsSimulator, type ApnsSimulator } from '@tocsin/simulators/apns-simulator.ts';
import { payloadBytes } from '@tocsin/simulators/expo-message.ts';
import { startFcmSimulator, type FcmSimulator } from '@tocsin/simulators/fcm-simulator.ts';
import {
  apnsSettings,
  expoSettings,
  fcmSettings,
  webPushSettings,
  writeSimulatorSettings,
} from '@tocsin/simulators/simulator-settings.ts';
import { startWebPushSimulator, type WebPushSimulator } from '@tocsin/simulators/web-push-simulator.ts';
import { engineUnderTest, enginesUnderTest } from '@tocsin/shared/testing/test-engine.ts';
import { openPushInstallation, type PushInstallation } from './push-installation.fixtures.ts';

const restarts = 20;
/** Four bytes in UTF-8, two units in UTF-16, and more if escaped in JSON. */
const longTexts = { bells: '🔔'.repeat(4_000), quotes: '"\\\u0001🔔'.repeat(1_000), mixed: 'aé€🔔'.repeat(1_000) };

describe(`requests to push providers, ${engineUnderTest}`, () => {
  let own: Closers;
  let at: PushInstallation;
  let apns: ApnsSimulator;
  let fcm: FcmSimulator;
  let web: WebPushSimulator;
  let config: Config;

  beforeEach(async () => {
    own = closers();
    at = await openPushInstallation(enginesUnderTest());
    own.add(() => at.close());
    [apns, fcm, web] = await Promise.all([startApnsSimulator(), startFcmSimulator(), startWebPushSimulator()]);
    for (const simulator of [apns, fcm, web]) own.add(() => simulator.close());
    config = loadConfig(
      {
        ...at.place.env,
        ...writeSimulatorSettings(at.place.config.DATA_DIR, [
          apnsSettings(apns),
          fcmSettings(fcm),
          expoSettings(at.expo),
          webPushSettings(web),
        ]),
      },
      '/nonexistent',
    );
  });
  afterEach(() => own.closeAll());

  test('every provider accepts the longest message, cut between code points', async () => {
    const topic = await at.addTopic({ name: 't'.repeat(52) + newId().slice(-12) });
    for (const platform of platforms)
      await at.addSubscriber(topic, {
        device: { platform, pushToken: platform === 'web' ? web.newSubscription() : newPushToken[platform]() },
        subscription: { notificationSound: 's'.repeat(64) },
      });
    await at.start({}, { config });
    const fields = {
      title: '🔔'.repeat(250),
      tags: Array.from({ length: 20 }, (_, n) => `${'🔔'.repeat(62)}${10 + n}`),
    };
    const bodiesOf: Record<Platform, (id: string) => (string | undefined)[]> = {
      ios: (id) =>
        apns.pushes.filter(({ messageId }) => messageId === id).map(({ payload }) => payload.aps.alert?.body),
      android: (id) =>
        fcm.pushes.filter(({ messageId }) => messageId === id).map(({ message }) => message.notification?.body),
      web: (id) => web.pushes.filter(({ messageId }) => messageId === id).map(({ payload }) => payload.body),
      expo: (id) => at.expo.pushes.filter(({ messageId }) => messageId === id).map(({ message }) => message.body),
    };
    let cutInside = 0;
    for (const text of Object.values(longTexts)) {
      const { id } = await at.publish(topic, { ...fields, message: text });
      await eventually(async () =>
        expect(await at.engine.deliveries.counts(id)).toMatchObject({ sent: platforms.length, failed: 0 }),
      );
      for (const platform of platforms) {
        const [body] = bodiesOf[platform](id) as [string];
        expect(body.endsWith('…')).toBe(true);
        const shown = body.slice(0, -1);
        expect(shown.length).toBeGreaterThan(100);
        if (!body.isWellFormed() || !text.startsWith(shown) || !text.slice(shown.length).isWellFormed()) cutInside += 1;
      }
    }
    const tooLarge =
      apns.requests.filter(({ status }) => status === 413).length +
      fcm.requests.filter(({ status }) => status === 400).length +
      at.expo.pushes.filter(({ message }) => payloadBytes(message) > 4_096).length +
      web.requests.filter(({ status }) => status === 413).length;
    const bytesMax = Math.max(...apns.pushes.map(({ bytes }) => bytes));
    process.stdout.write(
      `${JSON.stringify({ test: 'push payload', engine: engineUnderTest, pushes: platforms.length * Object.keys(longTexts).length, tooLarge, cutInside, apnsBytesMax: bytesMax })}\n`,
    );
    expect([tooLarge, cutInside]).toEqual([0, 0]);
  });

  test('uses one provider token over twenty restarts', async () => {
    const { device } = await at.addSubscriber(await at.addTopic(), {
      device: { platform: 'ios', pushToken: newPushToken.ios() },
    });
    const startedAt = Date.now();
    for (let restart = 1; restart <= restarts; restart++) {
      const notifier = await at.start({}, { config });
      await at.engine.jobQueue.add(pushQueues.urgent, [testPushJob(newId(), device.id, Date.now())]);
      await eventually(() => apns.pushes.length === restart, { intervalMs: 5 });
      await notifier.close();
    }
    const seconds = Math.round((Date.now() - startedAt) / 1_000);
    process.stdout.write(
      `${JSON.stringify({ test: 'push provider tokens', engine: engineUnderTest, restarts, seconds, tokens: apns.providerTokens.size })}\n`,
    );
    // Two if a token's fifty minutes end in between.
    expect(apns.providerTokens.size).toBeLessThanOrEqual(2);
  });
});
