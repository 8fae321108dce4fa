import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { platforms, type Platform } from '@tocsin/shared/domain/push/device.ts';
import { pushQueues, testPushJob } from '@tocsin/shared/domain/push/push-job.ts';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { loadConfig, type Config } from '@tocsin/shared/platform/load-config.ts';
import type { Message } from '@tocsin/shared/domain/messages/message.ts';
import type { Subscription } from '@tocsin/shared/domain/push/subscription.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { write } from '@tocsin/shared/ports/documents.ts';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import { subscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { newDevice, newId, newPushToken, newSubscription, newUser } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { startApnsSimulator, type ApnsPush, type ApnsSimulator } from '@tocsin/simulators/apns-simulator.ts';
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
  let env: Record<string, string>;

  beforeEach(async () => {
    own = closers();
    at = await openPushInstallation(enginesUnderTest());
    own.add(() => at.close());
    [apns, fcm, web] = await Promise.all([startApnsSimulator(), startFcmSimulator(), startWebPushSimulator()]);
    for (const simulator of [apns, fcm, web]) own.add(() => simulator.close());
    env = {
      ...at.place.env,
      ...writeSimulatorSettings(at.place.config.DATA_DIR, [
        apnsSettings(apns),
        fcmSettings(fcm),
        expoSettings(at.expo),
        webPushSettings(web),
      ]),
    };
    config = loadConfig(env, '/nonexistent');
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

  /** Subscribes a user with a device of each platform. */
  const addPhones = async (
    topic: Topic,
    subscription: Partial<Subscription> = {},
  ): Promise<Record<Platform, string>> => {
    const user = newUser();
    const tokens = {
      ios: newPushToken.ios(),
      android: newPushToken.android(),
      expo: newPushToken.expo(),
      web: web.newSubscription(),
    };
    await at.engine.documents.commit([
      write.insert(users, user),
      write.insert(subscriptions, newSubscription(user.id, topic.id, subscription)),
      ...platforms.map((platform) =>
        write.insert(devices, newDevice(user.id, { platform, pushToken: tokens[platform] })),
      ),
    ]);
    return tokens;
  };
  const apnsOf = (tokens: Record<Platform, string>) => apns.pushes.filter(({ token }) => token === tokens.ios);
  const fcmOf = (tokens: Record<Platform, string>) => fcm.pushes.filter(({ token }) => token === tokens.android);
  const expoOf = (tokens: Record<Platform, string>) => at.expo.pushes.filter(({ token }) => token === tokens.expo);
  const webOf = (tokens: Record<Platform, string>) => web.pushes.filter(({ token }) => token === tokens.web);

  const fields: Partial<Message>[] = [
    ...([1, 2, 3, 4, 5] as const).map((priority) => ({ priority })),
    { priority: 5, isSilent: true },
  ];
  const critical = { critical: 1, name: 'default', volume: 1 };
  const expoCritical = { critical: true, name: 'default', volume: 1 };

  test.each<[string, boolean, boolean, object]>([
    ['a subscription that allows critical alerts, with the entitlement', true, true, {}],
    ['a subscription that does not allow critical alerts', false, true, { isLess: true }],
    ['an installation without the entitlement', true, false, { isLess: true }],
  ])('each provider gets the level of a message: %s', async (_, allowCritical, isEntitled, given) => {
    const isLess = 'isLess' in given;
    const topic = await at.addTopic();
    const tokens = await addPhones(topic, { allowCritical });
    await at.start({}, { config: loadConfig({ ...env, APNS_CRITICAL: isEntitled ? 'on' : 'off' }, '/nonexistent') });
    for (const one of fields) {
      const { id } = await at.publish(topic, one);
      await eventually(async () =>
        expect(await at.engine.deliveries.counts(id)).toMatchObject({ sent: platforms.length }),
      );
    }
    expect(
      apnsOf(tokens).map(({ headers, payload: { aps } }) => [
        headers['apns-priority'],
        aps['interruption-level'],
        aps.sound,
      ]),
    ).toEqual([
      ['5', 'passive', undefined],
      ['5', 'passive', undefined],
      ['10', 'active', 'default'],
      ['10', 'time-sensitive', 'default'],
      isLess ? ['10', 'time-sensitive', 'default'] : ['10', 'critical', critical],
      ['5', 'passive', undefined],
    ]);
    expect(
      fcmOf(tokens).map(({ message: { android } }) => [
        android!.priority,
        android!.notification!['channel_id'],
        android!.notification!['sound'],
      ]),
    ).toEqual([
      ['normal', 'tocsin-low', undefined],
      ['normal', 'tocsin-low', undefined],
      ['high', 'tocsin-default', 'default'],
      ['high', 'tocsin-high', 'default'],
      ['high', 'tocsin-urgent', 'default'],
      ['normal', 'tocsin-low', undefined],
    ]);
    expect(
      expoOf(tokens).map(({ message: { priority, interruptionLevel, sound } }) => [priority, interruptionLevel, sound]),
    ).toEqual([
      ['normal', 'passive', null],
      ['normal', 'passive', null],
      ['high', 'active', 'default'],
      ['high', 'time-sensitive', 'default'],
      isLess ? ['high', 'time-sensitive', 'default'] : ['high', 'critical', expoCritical],
      ['normal', 'passive', null],
    ]);
    expect(
      webOf(tokens).map(({ headers, payload: { silent, vibrates } }) => [headers['urgency'], silent, vibrates]),
    ).toEqual([
      ['low', true, false],
      ['low', true, false],
      ['normal', false, true],
      ['high', false, true],
      ['high', false, true],
      ['low', true, false],
    ]);
  });

  test('each provider gets the data, the category, the badge and the expiry of a message', async () => {
    const topic = await at.addTopic();
    const since = at.clock() - 60_000;
    const tokens = await addPhones(topic, { createdAt: since });
    await at.publish(topic, { timestamp: since + 1_000 });
    await at.start({}, { config });
    await at.idle();
    const seen = apns.pushes.length;
    const expiresAt = at.clock() + 3_600_000;
    const click = 'https://example.com/pump?id=1';
    const actions = [
      { action: 'view' as const, label: 'Open', url: click, clear: false },
      { action: 'ack' as const, label: 'Got it' },
    ];
    const message = await at.publish(topic, {
      priority: 4,
      click,
      actions,
      requiresAck: true,
      tags: ['pump'],
      expiresAt,
    });
    await eventually(async () =>
      expect(await at.engine.deliveries.counts(message.id)).toMatchObject({ sent: platforms.length }),
    );
    const { offset } = (await at.engine.messages.find(message.id))!;
    const data = {
      topic: topic.name,
      message_id: message.id,
      offset,
      priority: 4,
      click,
      actions,
      requires_ack: true,
      sent_at: expect.stringMatching(/^\d{4}-.*Z$/),
      topic_id: topic.id,
      tags: ['pump'],
    };
    const ackUrl = expect.stringContaining(`/ack/${message.id}.`);
    const [ios] = apnsOf(tokens).slice(seen) as [ApnsPush];
    const { aps, ...custom } = ios.payload;
    expect(custom).toEqual({ ...data, ack_url: ackUrl });
    expect(aps).toMatchObject({ category: 'tocsin.ack', badge: 2 });
    expect(Number(ios.headers['apns-expiration'])).toBe(Math.floor(expiresAt / 1_000));
    const { message: android } = fcmOf(tokens).find(({ messageId }) => messageId === message.id)!;
    expect(android.data).toEqual({
      ...data,
      ack_url: ackUrl,
      offset: String(offset),
      priority: '4',
      actions: JSON.stringify(actions),
      requires_ack: 'true',
      tags: '["pump"]',
      category: 'tocsin.ack',
    });
    expect(android.android!.notification!['notification_count']).toBe(2);
    const seconds = (text: string | undefined): number => Number(/^([\d.]+)s$/.exec(text!)![1]);
    expect(Math.abs(seconds(android.android!.ttl) - 3_600)).toBeLessThan(60);
    const { message: relayed } = expoOf(tokens).find(({ messageId }) => messageId === message.id)!;
    expect(relayed).toMatchObject({ data, categoryId: 'tocsin.ack', badge: 2 });
    expect(Math.abs(relayed.ttl! - 3_600)).toBeLessThan(60);
    const browser = webOf(tokens).find(({ messageId }) => messageId === message.id)!;
    expect(browser.payload).toMatchObject({ data, category: 'tocsin.ack' });
    expect(Math.abs(Number(browser.headers['ttl']) - 3_600)).toBeLessThan(60);
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
