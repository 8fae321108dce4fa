import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { platforms, type Platform } from '@tocsin/shared/domain/push/device.ts';
import { pushProviders } from '@tocsin/shared/domain/push/push-platforms.ts';
import { pushQueues } from '@tocsin/shared/domain/push/push-job.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { loadConfig } from '@tocsin/shared/platform/load-config.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { newPushToken } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { startApnsSimulator, type ApnsSimulator } from '@tocsin/simulators/apns-simulator.ts';
import type { ExpoSimulator } from '@tocsin/simulators/expo-simulator.ts';
import { startFcmSimulator, type FcmSimulator } from '@tocsin/simulators/fcm-simulator.ts';
import {
  apnsSettings,
  expoSettings,
  fcmSettings,
  webPushSettings,
  writeSimulatorSettings,
} from '@tocsin/simulators/simulator-settings.ts';
import {
  startWebPushSimulator,
  webPushSubscription,
  type WebPushSimulator,
} from '@tocsin/simulators/web-push-simulator.ts';
import { openTcpProxy, type TcpProxy } from '@tocsin/shared/testing/tcp-proxy.ts';
import { engineUnderTest, enginesUnderTest } from '@tocsin/shared/testing/test-engine.ts';
import { openPushGateways } from './providers/open-push-gateways.ts';
import { openPushInstallation, type PushInstallation } from './push-installation.fixtures.ts';

/** Duration of the outage in seconds: a third refused, a third silent, a third with errors. 600 for the full test. */
const outageMs = Number(process.env['TOCSIN_PUSH_OUTAGE_SECONDS'] ?? 6) * 1_000;
const messageEveryMs = Math.max(outageMs / 600, 200);
/** Per provider. */
const phones = 5;
/**
 * Pauses of half a minute, up to twice as long by jitter, after a last attempt that hangs; then half the time of the
 * outage.
 */
const catchUpMsMax = 90_000 + outageMs / 2;

describe(`all providers are down, ${engineUnderTest}`, () => {
  let own: Closers;
  let at: PushInstallation;
  let simulators: { ios: ApnsSimulator; android: FcmSimulator; expo: ExpoSimulator; web: WebPushSimulator };
  let proxies: Record<Platform, TcpProxy>;
  let lines: { level: string; msg: string; platform?: Platform }[];
  let metrics: Registry;

  beforeEach(async () => {
    own = closers();
    at = await openPushInstallation(enginesUnderTest());
    own.add(() => at.close());
    simulators = {
      ios: await startApnsSimulator({ latencyMs: 20 }),
      android: await startFcmSimulator({ latencyMs: 20 }),
      expo: at.expo,
      web: await startWebPushSimulator({ latencyMs: 20 }),
    };
    own.add(() => simulators.ios.close());
    own.add(() => simulators.android.close());
    own.add(() => simulators.web.close());
    const through = async ({ url }: { url: string }): Promise<TcpProxy> => {
      const proxy = await openTcpProxy({ host: '127.0.0.1', port: Number(new URL(url).port) });
      own.add(() => proxy.close());
      return proxy;
    };
    proxies = {
      ios: await through(simulators.ios),
      android: await through(simulators.android),
      expo: await through(simulators.expo),
      web: await through(simulators.web),
    };
    [lines, metrics] = [[], new Registry()];
  });
  afterEach(() => own.closeAll());

  async function startNotifier(): Promise<void> {
    const env = writeSimulatorSettings(at.place.config.DATA_DIR, [
      apnsSettings(simulators.ios),
      fcmSettings(simulators.android),
      expoSettings(simulators.expo),
      webPushSettings(simulators.web),
    ]);
    const urls = {
      APNS_URL: `https://127.0.0.1:${proxies.ios.port}`,
      FCM_URL: `http://127.0.0.1:${proxies.android.port}`,
      EXPO_URL: `http://127.0.0.1:${proxies.expo.port}`,
      WEB_PUSH_HOSTS: `127.0.0.1:${proxies.web.port}`,
    };
    const gateways = await openPushGateways(loadConfig({ ...at.place.env, ...env, ...urls }, '/nonexistent'), {
      clock: at.clock,
      vapidKeys: undefined,
    });
    const log = openLogger('test', 'info', {
      write: (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[number]),
    });
    await at.start({}, { gateways, log, metrics });
  }

  const newToken = (platform: Platform): string =>
    platform === 'web' ? webPushSubscription(`https://127.0.0.1:${proxies.web.port}`) : newPushToken[platform]();

  /** Runs the outage: a different failure in each third. */
  async function away(phase: 'refused' | 'silent' | 'in trouble' | 'over'): Promise<void> {
    for (const platform of platforms) {
      if (phase === 'refused') proxies[platform].cut({ refuse: true });
      else if (phase === 'silent') proxies[platform].hold();
      else if (phase === 'in trouble') proxies[platform].cut();
    }
    if (phase === 'in trouble') {
      simulators.ios.script('*', { kind: 'error', status: 503, reason: 'ServiceUnavailable' });
      simulators.android.script('*', { kind: 'error', status: 503, code: 'UNAVAILABLE' });
      simulators.expo.script('*', { kind: 'status', status: 503 });
      simulators.web.script('*', { kind: 'error', status: 503 });
    }
    if (phase === 'over') for (const simulator of Object.values(simulators)) simulator.script('*', { kind: 'ok' });
  }

  /** Publishes during the outage; resolves with the IDs. */
  async function keepPublishing(topic: Topic, forMs: number): Promise<string[]> {
    const ids: string[] = [];
    for (const until = Date.now() + forMs; Date.now() < until; await pause(messageEveryMs))
      ids.push((await at.publish(topic)).id);
    return ids;
  }

  const pushed = (): { token: string; messageId: string | undefined; at: number }[] =>
    Object.values(simulators).flatMap(({ pushes }) => [...pushes]);
  const gauge = () => metrics.getSingleMetricAsString('tocsin_push_provider_away');

  test(
    'logs it once per minute, loses nothing, and sends all unexpired pushes afterwards without a burst',
    async () => {
      const topic = await at.addTopic();
      for (const platform of platforms) {
        for (let n = 0; n < phones; n++)
          await at.addSubscriber(topic, { device: { platform, pushToken: newToken(platform) } });
      }
      await startNotifier();
      const before = await at.publish(topic);
      await eventually(() => pushed().length === platforms.length * phones);
      expect(before.id).toBe(pushed()[0]!.messageId);

      const beganAt = Date.now();
      await away('refused');
      const expiring = await at.publish(topic, { expiresAt: at.clock() + outageMs / 2 });
      const ids = await keepPublishing(topic, outageMs / 3);
      await eventually(async () => expect((await gauge()).match(/ 1$/gm)).toHaveLength(platforms.length));
      await away('silent');
      ids.push(...(await keepPublishing(topic, outageMs / 3)));
      await away('in trouble');
      const triesBefore = platforms.map((platform) => simulators[platform].requests.length);
      ids.push(...(await keepPublishing(topic, outageMs / 3)));
      const tries = platforms.map((platform, index) => simulators[platform].requests.length - triesBefore[index]!);
      const outageLines = lines.length;
      expect(pushed().filter(({ at: time }) => time > beganAt)).toEqual([]);

      const backAt = Date.now();
      await away('over');
      const due = (ids.length + 1) * platforms.length * phones;
      const reached = () => new Set(pushed().map(({ token, messageId }) => `${token} ${messageId}`)).size;
      await eventually(() => reached() === due, { timeoutMs: catchUpMsMax, intervalMs: 250 });
      const catchUpMs = Math.max(...pushed().map(({ at: time }) => time)) - backAt;
      await eventually(
        async () => {
          for (const queue of Object.values(pushQueues))
            expect(await at.engine.jobQueue.counts(queue)).toMatchObject({
              waiting: 0,
              delayed: 0,
              active: 0,
              failed: 0,
            });
        },
        { timeoutMs: catchUpMsMax },
      );
      const all = pushed();
      const inSecond = Map.groupBy(
        all.filter(({ at: time }) => time >= backAt),
        ({ at: time }) => Math.floor((time - backAt) / 1_000),
      );
      process.stdout.write(
        `${JSON.stringify({
          test: 'providers away',
          engine: engineUnderTest,
          outageSeconds: Math.round((backAt - beganAt) / 1_000),
          messages: ids.length,
          pushes: due,
          lost: due - reached(),
          twice: all.length - due,
          catchUpMs,
          pushesASecondMax: Math.max(...[...inSecond.values()].map((pushes) => pushes.length)),
          tries503: tries,
          lines: outageLines,
        })}\n`,
      );

      for (const platform of platforms) {
        const { name } = pushProviders[platform];
        const said = lines.filter((line) => line.platform === platform).map(({ level, msg }) => `${level} ${msg}`);
        expect(said.filter((line) => line === `warn ${name} rejects pushes, pausing`).length).toBeLessThanOrEqual(
          2 + Math.floor(outageMs / 60_000),
        );
        expect(said.at(0)).toMatch(/rejects pushes/);
        expect(said.at(-1)).toBe(`info ${name} accepts pushes again`);
      }
      // At most three lines per provider plus one per minute, and none per push.
      expect(lines.length).toBeLessThanOrEqual(platforms.length * (3 + Math.floor(outageMs / 60_000)));
      // At most one batch per second.
      for (const count of tries) expect(count).toBeLessThanOrEqual(phones * (outageMs / 3_000 + 2));
      expect((await gauge()).match(/ 0$/gm)).toHaveLength(platforms.length);
      for (const id of ids)
        expect(await at.engine.deliveries.counts(id)).toMatchObject({
          sent: platforms.length * phones,
          failed: 0,
          retrying: 0,
          pending: 0,
        });
      const rows = await at.engine.deliveries.find(expiring.id, { limit: 100 });
      expect(rows.map(({ status, reason }) => `${status}: ${reason}`)).toEqual(
        rows.map(() => expect.stringMatching(/^failed: message expire/)),
      );
      expect(rows).toHaveLength(platforms.length * phones);
      expect(all.filter(({ messageId }) => messageId === expiring.id)).toEqual([]);
    },
    outageMs + 3 * catchUpMsMax,
  );
});
