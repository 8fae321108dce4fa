import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { platforms, type Platform } from '@tocsin/shared/domain/push/device.ts';
import { editRecord } from '@tocsin/shared/domain/messages/message-changes.ts';
import { pushQueues, testPushJob } from '@tocsin/shared/domain/push/push-job.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { loadConfig } from '@tocsin/shared/platform/load-config.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import { newId, newPushToken } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { startApnsSimulator, type ApnsSimulator } from '@tocsin/simulators/apns-simulator.ts';
import { startExpoSimulator, type ExpoSimulator } from '@tocsin/simulators/expo-simulator.ts';
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
import { openPushInstallation, type PushInstallation, type Subscriber } from './push-installation.fixtures.ts';

const accessToken = 'the access token of the tests';
const messageCount = 4;
/** A response timeout, the longest pause after it, twice as long by jitter, and the restart. */
const patienceMs = 100_000;

describe(`providers reject the installation, ${engineUnderTest}`, () => {
  let own: Closers;
  let at: PushInstallation;
  let apns: ApnsSimulator;
  let fcm: FcmSimulator;
  let expo: ExpoSimulator;
  let web: WebPushSimulator;
  let topic: Topic;
  let subscribers: Subscriber[];
  let lines: Record<string, unknown>[];
  /** A rejection that a token of another app can cause is a warning. */
  const isReport = ({ level, reason }: Record<string, unknown>): boolean =>
    level === 'error' || (level === 'warn' && reason !== undefined);
  let metrics: Registry;

  beforeEach(async () => {
    own = closers();
    at = await openPushInstallation(enginesUnderTest());
    own.add(() => at.close());
    [apns, fcm, expo, web] = [
      await startApnsSimulator(),
      await startFcmSimulator(),
      await startExpoSimulator({ accessToken }),
      await startWebPushSimulator(),
    ];
    for (const simulator of [apns, fcm, expo, web]) own.add(() => simulator.close());
    topic = await at.addTopic();
    subscribers = [];
    for (const platform of platforms)
      subscribers.push(
        await at.addSubscriber(topic, {
          device: { platform, pushToken: platform === 'web' ? web.newSubscription() : newPushToken[platform]() },
        }),
      );
    lines = [];
  });
  afterEach(() => own.closeAll());

  /** A notifier with valid credentials, except the given ones. */
  async function start(
    given: {
      apns?: Partial<ApnsSimulator>;
      fcm?: Pick<FcmSimulator, 'url' | 'serviceAccount'>;
      web?: Pick<WebPushSimulator, 'vapid'>;
      env?: Record<string, string>;
    } = {},
  ): Promise<{ close(): Promise<void> }> {
    const env = writeSimulatorSettings(at.place.config.DATA_DIR, [
      apnsSettings({ ...apns, ...given.apns }),
      fcmSettings({ ...fcm, ...given.fcm }),
      expoSettings(expo),
      webPushSettings({ ...web, ...given.web }),
    ]);
    const log = openLogger('test', 'info', {
      write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>),
    });
    metrics = new Registry();
    const config = loadConfig(
      { ...at.place.env, EXPO_ACCESS_TOKEN: accessToken, ...env, ...given.env },
      '/nonexistent',
    );
    return at.start({ backoffMs: 500 }, { config, log, metrics });
  }

  const taken = (): number => apns.pushes.length + fcm.pushes.length + expo.pushes.length + web.pushes.length;
  const publishAll = async (): Promise<string[]> => {
    const ids: string[] = [];
    for (let n = 0; n < messageCount; n++) ids.push((await at.publish(topic)).id);
    return ids;
  };
  /** Nothing was sent, everything waits, and the operator sees the reason. */
  const expectRefused = async (
    ids: readonly string[],
    told: Partial<Record<Platform, { reason: string; remedy: string; isOfToken?: true }>>,
  ): Promise<void> => {
    const refused = Object.keys(told) as Platform[];
    for (const id of ids) {
      await eventually(
        async () => {
          const rows = await at.engine.deliveries.find(id, { limit: 10 });
          expect(new Set(rows.map(({ platform, status, reason }) => `${platform} ${status} ${reason}`))).toEqual(
            new Set(
              platforms.map((platform) =>
                refused.includes(platform) ? `${platform} retrying ${told[platform]!.reason}` : `${platform} sent null`,
              ),
            ),
          );
        },
        { timeoutMs: patienceMs },
      );
    }
    for (const platform of refused) {
      const { reason, remedy, isOfToken = false } = told[platform]!;
      const errors = lines.filter((line) => isReport(line) && line['platform'] === platform);
      expect(errors).toMatchObject([{ reason, msg: expect.stringContaining(remedy) }]);
      const counted = new RegExp(
        `^tocsin_push_refusals_total\\{platform="${platform}",reason="${reason}"\\} (\\d+)$`,
        'm',
      ).exec(await metrics.metrics());
      expect(Number(counted?.[1])).toBeGreaterThanOrEqual(messageCount);
      expect(await metrics.getSingleMetricAsString('tocsin_push_provider_away')).toContain(
        `{platform="${platform}"} ${isOfToken ? 0 : 1}`,
      );
    }
    for (const { device } of subscribers)
      expect(await at.engine.documents.get(devices, device.id)).toMatchObject({ isActive: true });
  };
  const expectTold = async (platform: Platform, reason: string): Promise<void> => {
    await eventually(async () =>
      expect(await metrics.getSingleMetricAsString('tocsin_push_refusals_total')).toMatch(
        new RegExp(`{platform="${platform}",reason="${reason}"} [1-9]`),
      ),
    );
    expect(lines.filter(isReport)).toContainEqual(expect.objectContaining({ platform, reason }));
  };
  const expectSent = async (ids: readonly string[]): Promise<void> => {
    for (const id of ids) {
      await eventually(
        async () =>
          expect(await at.engine.deliveries.counts(id)).toMatchObject({
            sent: platforms.length,
            retrying: 0,
            failed: 0,
          }),
        { timeoutMs: patienceMs },
      );
    }
    for (const queue of Object.values(pushQueues))
      expect(await at.engine.jobQueue.counts(queue)).toMatchObject({ failed: 0 });
  };

  test('sends and loses nothing with wrong credentials, logs a remedy, and sends everything after a restart with valid ones', async () => {
    const [other, otherWeb] = [await startFcmSimulator(), await startWebPushSimulator()];
    for (const simulator of [other, otherWeb]) own.add(() => simulator.close());
    const serviceAccount = JSON.stringify({
      ...(JSON.parse(fcm.serviceAccount) as object),
      private_key: (JSON.parse(other.serviceAccount) as { private_key: string }).private_key,
    });
    const wrong = await start({
      apns: { keyId: 'OTHER67890' },
      fcm: { url: fcm.url, serviceAccount },
      web: { vapid: otherWeb.vapid },
      env: { EXPO_ACCESS_TOKEN: 'another' },
    });
    const ids = await publishAll();
    await expectRefused(ids, {
      ios: { reason: 'InvalidProviderToken', remedy: 'check APNS_KEY_FILE, APNS_KEY_ID, APNS_TEAM_ID and the clock' },
      android: { reason: 'no access token: invalid_grant', remedy: 'check FCM_SERVICE_ACCOUNT_FILE' },
      expo: { reason: 'Expo returned 401', remedy: 'check EXPO_ACCESS_TOKEN' },
      web: { reason: 'the push service returned 403', remedy: 'check VAPID_PUBLIC_KEY', isOfToken: true },
    });
    expect(taken()).toBe(0);
    await wrong.close();
    const restartedAt = Date.now();
    await start();
    await expectSent(ids);
    process.stdout.write(
      `${JSON.stringify({ test: 'push credentials', engine: engineUnderTest, kept: ids.length * platforms.length, lost: 0, sentAfterRestartMs: Date.now() - restartedAt })}\n`,
    );
    expect(taken()).toBe(ids.length * platforms.length);
  }, 240_000);

  test('reports an expired APNs key and a service account of another project, and sends waiting pushes once they are accepted', async () => {
    apns.script('*', { kind: 'error', status: 403, reason: 'ExpiredProviderToken' });
    fcm.script('*', { kind: 'error', status: 403, code: 'SENDER_ID_MISMATCH' });
    await start();
    const ids = await publishAll();
    await expectRefused(ids, {
      ios: { reason: 'ExpiredProviderToken', remedy: 'check APNS_KEY_FILE, APNS_KEY_ID, APNS_TEAM_ID and the clock' },
      android: { reason: 'mismatched-credential', remedy: 'another Firebase project', isOfToken: true },
    });
    const sent = [apns, fcm, expo, web].map(({ pushes }) => pushes.length);
    expect(sent).toEqual([0, 0, ids.length, ids.length]);
    apns.script('*', { kind: 'ok' });
    fcm.script('*', { kind: 'ok' });
    await expectSent(ids);
    expect(taken()).toBe(ids.length * platforms.length);
  }, 240_000);

  test('reports and counts rejections of pushes without a ledger row, such as edits and test pushes', async () => {
    await start();
    const message = await at.publish(topic, { message: 'is of' });
    await expectSent([message.id]);
    apns.script('*', { kind: 'error', status: 403, reason: 'ExpiredProviderToken' });
    const record = editRecord((await at.engine.messages.find(message.id))!, { message: 'is off' }, at.clock());
    const offset = await at.engine.eventLog.append(topic.partition, record, topic.name);
    await at.engine.messages.apply([{ partition: topic.partition, offset, record }]);
    await expectTold('ios', 'ExpiredProviderToken');
    await eventually(() => expect(fcm.pushes).toHaveLength(2));
    fcm.script('*', { kind: 'error', status: 403, code: 'SENDER_ID_MISMATCH' });
    const android = subscribers.find(({ device }) => device.platform === 'android')!;
    await at.engine.jobQueue.add(pushQueues.urgent, [testPushJob(newId(), android.device.id, Date.now())]);
    await expectTold('android', 'mismatched-credential');
  }, 240_000);
});
