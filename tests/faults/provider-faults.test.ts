import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Platform } from '@tocsin/shared/domain/push/device.ts';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import type { DeliveryStatus } from '@tocsin/shared/ports/deliveries.ts';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import { addSubscribers } from '@tocsin/shared/testing/add-subscribers.ts';
import { newPushToken } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { describeWithEngines, type TestEngines } from '@tocsin/shared/testing/describe-with-engines.ts';
import { startApnsSimulator, type ApnsBehaviour, type ApnsSimulator } from '@tocsin/simulators/apns-simulator.ts';
import { startExpoSimulator, type ExpoBehaviour, type ExpoSimulator } from '@tocsin/simulators/expo-simulator.ts';
import { startFcmSimulator, type FcmBehaviour, type FcmSimulator } from '@tocsin/simulators/fcm-simulator.ts';
import {
  apnsSettings,
  expoSettings,
  fcmSettings,
  writeSimulatorSettings,
} from '@tocsin/simulators/simulator-settings.ts';
import { printMeasurements } from '@tocsin/shared/testing/figures.ts';
import { addTopic, endProcess, newPushPlace, publishTo, type PushPlace } from './push-place.ts';

const deviceCount = Number(process.env['TOCSIN_FAULTY_DEVICES'] ?? 200);
const askedSeconds = 5;
const patienceMs = 60_000;
const ok = { kind: 'ok' } as const;

/** A fault of a device: its provider's response and the expected outcome. */
interface Fault {
  readonly name: string;
  /** The number of devices per hundred with this fault. */
  readonly percent: number;
  readonly status: DeliveryStatus;
  readonly retires?: true;
  readonly apns: readonly ApnsBehaviour[];
  readonly fcm: readonly FcmBehaviour[];
  readonly expo: readonly ExpoBehaviour[];
}

const apnsError = (
  status: number,
  reason: string,
  more: { timestamp?: number; retryAfterSeconds?: number } = {},
): ApnsBehaviour => ({ kind: 'error', status, reason, ...more });
const fcmError = (status: number, code: string, retryAfterSeconds?: number): FcmBehaviour => ({
  kind: 'error',
  status,
  code,
  ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
});
/** Later than the registration of every token, even on a slow machine. */
const later = Date.now() + 3_600_000;

// The second attempt gets Retry-After: connections end during the first, and a truncated response carries no header.
const faults: readonly Fault[] = [
  {
    name: 'gone',
    percent: 8,
    status: 'dead_token',
    retires: true,
    apns: [apnsError(410, 'Unregistered', { timestamp: later })],
    fcm: [fcmError(404, 'UNREGISTERED')],
    expo: [{ kind: 'ticket-error', error: 'DeviceNotRegistered' }],
  },
  {
    name: 'gone before it came back',
    percent: 2,
    status: 'dead_token',
    apns: [apnsError(410, 'Unregistered', { timestamp: 1 })],
    fcm: [fcmError(404, 'UNREGISTERED')],
    expo: [ok],
  },
  {
    name: 'refused',
    percent: 5,
    status: 'failed',
    apns: [apnsError(400, 'PayloadEmpty')],
    fcm: [{ kind: 'bad-message' }],
    expo: [{ kind: 'ticket-error', error: 'MessageTooBig' }],
  },
  {
    name: 'too many',
    percent: 2,
    status: 'sent',
    apns: [
      apnsError(503, 'ServiceUnavailable'),
      apnsError(429, 'TooManyRequests', { retryAfterSeconds: askedSeconds }),
      ok,
    ],
    fcm: [fcmError(503, 'UNAVAILABLE'), fcmError(429, 'QUOTA_EXCEEDED', askedSeconds), ok],
    expo: [{ kind: 'status', status: 429, retryAfterSeconds: askedSeconds }, ok],
  },
  {
    name: 'unavailable',
    percent: 10,
    status: 'sent',
    apns: [apnsError(503, 'ServiceUnavailable'), apnsError(503, 'Shutdown'), ok],
    fcm: [fcmError(503, 'UNAVAILABLE'), fcmError(500, 'INTERNAL'), ok],
    expo: [{ kind: 'ticket-error', error: 'ExpoError' }, ok],
  },
  {
    name: 'reset',
    percent: 1,
    status: 'sent',
    apns: [{ kind: 'reset' }, ok],
    fcm: [{ kind: 'reset' }, ok],
    expo: [{ kind: 'reset' }, ok],
  },
  {
    name: 'hang',
    percent: 1,
    status: 'sent',
    apns: [{ kind: 'hang' }, ok],
    fcm: [{ kind: 'hang' }, ok],
    expo: [{ kind: 'hang' }, ok],
  },
];
const well: Fault = { name: 'well', percent: 71, status: 'sent', apns: [ok], fcm: [ok], expo: [ok] };
/** The faults of a hundred devices. */
const byPlace = [...faults, well].flatMap((fault) => Array.from({ length: fault.percent }, () => fault));

/** 50 % of the devices use APNs, 40 % FCM and 10 % Expo; the first of each gets Retry-After. */
const byTen: readonly Platform[] = [
  'ios',
  'ios',
  'ios',
  'ios',
  'ios',
  'android',
  'android',
  'android',
  'android',
  'expo',
];
const firstPlace = 15;

function newPhone(n: number): { fault: Fault; platform: Platform; pushToken: string } {
  const platform = byTen[n % 10]!;
  const ofTen = byTen.filter((one) => one === platform).length;
  const place = Math.floor(n / 10) * ofTen + (n % 10) - byTen.indexOf(platform);
  return { fault: byPlace[(firstPlace + place * 37) % 100]!, platform, pushToken: newPushToken[platform]() };
}

describe('provider faults, embedded', () => providerTests(undefined));
describeWithEngines('provider faults, on a cluster', (engines) => providerTests(engines));

function providerTests(engines: TestEngines | undefined): void {
  let own: Closers;
  let place: PushPlace;
  let [apns, fcm, expo]: [ApnsSimulator, FcmSimulator, ExpoSimulator] = [] as never;
  let env: Record<string, string>;

  beforeEach(async () => {
    own = closers();
    place = newPushPlace(engines, own);
    [apns, fcm, expo] = await Promise.all([
      startApnsSimulator({ latencyMs: 20 }),
      startFcmSimulator({ latencyMs: 20 }),
      startExpoSimulator(),
    ]);
    for (const simulator of [apns, fcm, expo]) own.add(() => simulator.close());
    const folder = mkdtempSync(join(tmpdir(), 'tocsin-push-'));
    own.add(() => rmSync(folder, { recursive: true }));
    env = writeSimulatorSettings(folder, [apnsSettings(apns), fcmSettings(fcm), expoSettings(expo)]);
  });
  afterEach(() => own.closeAll());

  const script = (fault: Fault, token: string, platform: Platform): void => {
    if (platform === 'ios') apns.script(token, ...fault.apns);
    else if (platform === 'android') fcm.script(token, ...fault.fcm);
    else expo.script(token, ...fault.expo);
  };
  /** Milliseconds between Retry-After and the next request, for each device that got it. */
  const pauses = (): number[] =>
    [apns, fcm].flatMap(({ requests }) => {
      const asked = requests.filter(({ status }) => status === 429);
      expect(asked.length).toBeGreaterThan(0);
      return asked.map(
        ({ token, at }) =>
          Math.min(...requests.flatMap((next) => (next.token === token && next.at > at ? [next.at] : []))) - at,
      );
    });
  const expoPause = (): number => {
    const asked = expo.requests.find(({ status }) => status === 429);
    return asked === undefined
      ? Infinity
      : Math.min(...expo.requests.flatMap(({ at }) => (at > asked.at ? [at] : []))) - asked.at;
  };

  test(
    'each push gets the outcome of its provider’s response, Retry-After is respected, and only dead devices are retired',
    async () => {
      const { all, messageId } = await place.withEngine(async (engine) => {
        const topic = await addTopic(engine);
        // Expo's devices come last, on one page of subscriptions: a request cannot respect the Retry-After of another
        // one that is under way.
        const given = Array.from({ length: deviceCount }, (_, n) => newPhone(n)).sort(
          (one, other) => Number(one.platform === 'expo') - Number(other.platform === 'expo'),
        );
        const made = await addSubscribers(
          engine.documents,
          topic.id,
          given.map(({ platform, pushToken }) => ({ platform, pushToken })),
        );
        const message = await publishTo(engine, topic, { priority: 5 });
        return { all: made.map((device, n) => ({ ...device, fault: given[n]!.fault })), messageId: message.id };
      });
      for (const { fault, pushToken, platform } of all) script(fault, pushToken, platform);
      const startedAt = Date.now();
      const child = place.startNotifier(env);
      await eventually(() => apns.requests.length > deviceCount / 10 && fcm.requests.length > deviceCount / 10, {
        timeoutMs: patienceMs,
        intervalMs: 5,
      });
      apns.goAway();
      fcm.goAway();
      const taken = () => new Set([...apns.pushes, ...fcm.pushes, ...expo.pushes].map(({ token }) => token));
      const toBeSent = all.filter(({ fault, platform }) => statusOf(fault, platform) === 'sent');
      const answered = () =>
        new Set([...apns.requests, ...fcm.requests].flatMap(({ token, status }) => (status === 200 ? [token] : [])));
      await eventually(
        () => {
          const [got, yes] = [taken(), answered()];
          return toBeSent.every(({ pushToken, platform }) =>
            platform === 'expo' ? got.has(pushToken) : yes.has(pushToken),
          );
        },
        { timeoutMs: patienceMs },
      );
      const settledMs = Date.now() - startedAt;
      expect(await endProcess(child, 'SIGTERM')).toEqual([0, null]);

      const { rows, retired } = await place.withEngine(async (engine) => ({
        rows: new Map(
          (await engine.deliveries.find(messageId, { limit: deviceCount })).map(({ deviceId, status }) => [
            deviceId,
            status,
          ]),
        ),
        retired: new Set(
          (
            await engine.documents.getMany(
              devices,
              all.map(({ id }) => id),
            )
          ).flatMap(({ id, isActive }) => (isActive ? [] : [id])),
        ),
      }));
      const wrongClass = all.flatMap(({ id, fault, platform }) =>
        rows.get(id) === statusOf(fault, platform) ? [] : [`${platform} ${fault.name}: ${rows.get(id)}`],
      );
      const wronglyRetired = all.flatMap(({ id, fault, platform }) =>
        retired.has(id) === retires(fault, platform) ? [] : [`${platform} ${fault.name}: ${retired.has(id)}`],
      );
      const earliestRetryMs = Math.min(...pauses(), expoPause());
      const twice = apns.pushes.length + fcm.pushes.length + expo.pushes.length - taken().size;
      printMeasurements('provider faults', {
        engine: engines === undefined ? 'embedded' : 'cluster',
        devices: deviceCount,
        wrongClass: wrongClass.length,
        earliestRetryMs,
        askedMs: askedSeconds * 1_000,
        wronglyRetired: wronglyRetired.length,
        retired: retired.size,
        twice,
        settledMs,
      });
      expect({ wrongClass, wronglyRetired }).toEqual({ wrongClass: [], wronglyRetired: [] });
      expect(earliestRetryMs).toBeGreaterThanOrEqual(askedSeconds * 1_000);
    },
    3 * patienceMs,
  );
}

/**
 * FCM does not report the time of unregistration, and Expo has no re-registration: their tokens are either dead or
 * valid.
 */
function statusOf({ name, status }: Fault, platform: Platform): DeliveryStatus {
  return name === 'gone before it came back' && platform === 'expo' ? 'sent' : status;
}

function retires({ name, retires: isDead }: Fault, platform: Platform): boolean {
  return isDead === true || (name === 'gone before it came back' && platform === 'android');
}
