import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '@tocsin/shared/platform/clock.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { startApnsSimulator, type ApnsPush, type ApnsSimulator } from '@tocsin/simulators/apns-simulator.ts';
import { openTcpProxy } from '@tocsin/shared/testing/tcp-proxy.ts';
import { openApnsGateway, type ApnsGatewayOptions } from './apns-gateway.ts';
import { apnsProviderToken } from './apns-provider-token.ts';
import type { PushGateway, PushLevel, PushRequest } from './push-gateway.ts';
import { expectNoLossOnGoAway, longestContent, messageData, push } from './push-gateway.fixtures.ts';

const device = () => randomBytes(32).toString('hex');

describe('the APNs gateway', () => {
  let apns: ApnsSimulator;
  const gateways: PushGateway[] = [];
  const open = (given: Partial<ApnsGatewayOptions> = {}): PushGateway => {
    const { url, certificate, key, keyId, teamId, bundleId } = apns;
    const gateway = openApnsGateway({
      url,
      ca: certificate,
      key,
      keyId,
      teamId,
      bundleId,
      clock: systemClock,
      ...given,
    });
    gateways.push(gateway);
    return gateway;
  };

  beforeEach(async () => {
    apns = await startApnsSimulator();
  });
  afterEach(async () => {
    await Promise.all(gateways.splice(0).map((gateway) => gateway.close()));
    await apns.close();
  });

  test('sends each push in the documented format', async () => {
    const content = { ...push('').content, category: 'tocsin.actions' as const };
    const batch = [push(device(), { badge: 7, content }), push(device(), { level: 'low', sound: null })];
    expect(await open().send(batch)).toEqual([{ kind: 'accepted' }, { kind: 'accepted' }]);
    const [heard, silent] = batch.map(({ pushToken }) => apns.pushes.find(({ token }) => token === pushToken)!);
    expect(heard!.headers).toMatchObject({
      'apns-topic': apns.bundleId,
      'apns-push-type': 'alert',
      'apns-priority': '10',
      'apns-collapse-id': 'm-1',
    });
    expect(heard!.payload).toEqual({
      aps: {
        alert: { title: 'alarms', body: 'the pump stopped' },
        sound: 'default',
        badge: 7,
        category: 'tocsin.actions',
        'interruption-level': 'active',
        'thread-id': 't-1',
      },
      ...messageData,
    });
    expect(silent!.headers['apns-priority']).toBe('5');
    expect(silent!.payload.aps).toEqual({
      alert: { title: 'alarms', body: 'the pump stopped' },
      'interruption-level': 'passive',
      'thread-id': 't-1',
    });
  });

  test.each<[PushLevel, string, string, unknown]>([
    ['low', '5', 'passive', undefined],
    ['default', '10', 'active', 'bell.caf'],
    ['high', '10', 'time-sensitive', 'bell.caf'],
    ['urgent', '10', 'time-sensitive', 'bell.caf'],
    ['critical', '10', 'critical', { critical: 1, name: 'bell.caf', volume: 1 }],
  ])('a push of the level %s has priority %s and is %s', async (level, priority, interruption, sound) => {
    const given = push(device(), { level, sound: level === 'low' ? null : 'bell.caf' });
    expect(await open().send([given])).toEqual([{ kind: 'accepted' }]);
    const [{ headers, payload }] = apns.pushes as [ApnsPush];
    expect([headers['apns-priority'], payload.aps['interruption-level'], payload.aps.sound]).toEqual([
      priority,
      interruption,
      sound,
    ]);
  });

  test('sends each device its own badge, whatever the text contains', async () => {
    const text = 'an "aps":{ in the text';
    const content = { ...push('').content, body: text };
    const batch = [0, 12, 10_000].map((badge) => push(device(), { content, badge }));
    expect(await open().send(batch)).toEqual(Array(3).fill({ kind: 'accepted' }));
    for (const { pushToken, badge } of batch)
      expect(apns.pushes.find(({ token }) => token === pushToken)!.payload.aps).toMatchObject({
        badge,
        alert: { body: text },
      });
  });

  test('sets the expiry of a push to that of the message, at most thirty days', async () => {
    const before = Date.now();
    const [soon, late] = [
      push(device(), { expiresAt: before + 61_500 }),
      push(device(), { expiresAt: before + 90 * 86_400_000 }),
    ];
    await open().send([soon, late]);
    const expirationOf = ({ pushToken }: PushRequest) =>
      Number(apns.pushes.find(({ token }) => token === pushToken)!.headers['apns-expiration']);
    expect(expirationOf(soon)).toBe(Math.floor(soon.expiresAt / 1_000));
    expect(expirationOf(late)).toBeGreaterThanOrEqual(Math.floor(before / 1_000) + 30 * 86_400);
    expect(expirationOf(late)).toBeLessThanOrEqual(Math.floor(Date.now() / 1_000) + 30 * 86_400);
  });

  test('distinguishes APNs responses per device', async () => {
    const [fine, gone, bad, busy, broken, wrong] = Array.from({ length: 6 }, device) as [
      string,
      string,
      string,
      string,
      string,
      string,
    ];
    apns.script(gone, { kind: 'error', status: 410, reason: 'Unregistered', timestamp: 1_700_000_000_000 });
    apns.script(bad, { kind: 'error', status: 400, reason: 'BadDeviceToken' });
    apns.script(busy, { kind: 'error', status: 429, reason: 'TooManyRequests', retryAfterSeconds: 5 });
    apns.script(broken, { kind: 'error', status: 503, reason: 'ServiceUnavailable' });
    apns.script(wrong, { kind: 'error', status: 413, reason: 'PayloadTooLarge' });
    expect(await open().send([fine, gone, bad, busy, broken, wrong, 'no token'].map((token) => push(token)))).toEqual([
      { kind: 'accepted' },
      { kind: 'dead-token', reason: 'Unregistered', since: 1_700_000_000_000 },
      { kind: 'dead-token', reason: 'BadDeviceToken', isDoubtful: true },
      { kind: 'retry', reason: 'TooManyRequests', afterMs: 5_000 },
      { kind: 'retry', reason: 'ServiceUnavailable', isTrouble: true },
      { kind: 'rejected', reason: '413 PayloadTooLarge' },
      { kind: 'dead-token', reason: 'not an APNs device token' },
    ]);
    // Nothing was sent twice.
    expect(apns.requests).toHaveLength(6);
  });

  test.each([302, 400, 403, 404, 408, 410, 413])(
    'treats a %d that is not from APNs as a temporary error',
    async (status) => {
      apns.script('*', { kind: 'foreign', status, text: '<html>Request blocked</html>' });
      expect(await open().send([push(device())])).toEqual([
        { kind: 'retry', reason: `${status} in a format that is not from APNs`, isTrouble: true },
      ]);
    },
  );

  test('rejects a push for an unknown reason, and retries if APNs refuses the sender', async () => {
    const refusal = async (status: number, reason: string) => {
      apns.script('*', { kind: 'error', status, reason });
      return (await open().send([push(device())]))[0];
    };
    expect(await refusal(400, 'Unheard')).toEqual({ kind: 'rejected', reason: '400 Unheard' });
    for (const reason of ['BadEnvironmentKeyIdInToken', 'UnrelatedKeyIdInToken', 'Unheard']) {
      expect(await refusal(403, reason)).toEqual({
        kind: 'retry',
        reason,
        remedy: expect.stringContaining('APNS_KEY_FILE'),
      });
    }
    for (const reason of ['TopicDisallowed', 'BadTopic']) {
      expect(await refusal(400, reason)).toEqual({
        kind: 'retry',
        reason,
        remedy: expect.stringContaining('APNS_BUNDLE_ID'),
      });
    }
    expect(await refusal(400, 'DeviceTokenNotForTopic')).toEqual({
      kind: 'retry',
      reason: 'DeviceTokenNotForTopic',
      remedy: expect.stringContaining('APNS_BUNDLE_ID'),
      isOfToken: true,
    });
  });

  test('only suspects a device if APNs does not state since when it is unregistered', async () => {
    apns.script('*', { kind: 'error', status: 410, reason: 'Unregistered' });
    expect(await open().send([push(device())])).toEqual([
      { kind: 'dead-token', reason: 'Unregistered', isDoubtful: true },
    ]);
  });

  test('reports unknown for lost responses and opens a new connection', async () => {
    const [slow, cut] = [device(), device()];
    apns.script(slow, { kind: 'hang' });
    apns.script(cut, { kind: 'reset' });
    const gateway = open({ requestTimeoutMs: 2_000 });
    expect(await gateway.send([push(slow)])).toMatchObject([{ kind: 'unknown' }]);
    expect(await gateway.send([push(cut)])).toMatchObject([{ kind: 'unknown' }]);
    expect(apns.pushes).toHaveLength(2);
    expect(await gateway.send([push(device()), push(device())])).toEqual([{ kind: 'accepted' }, { kind: 'accepted' }]);
  });

  test('replaces silent connections after one push without a response on each', async () => {
    const proxy = await openTcpProxy({ host: '127.0.0.1', port: Number(new URL(apns.url).port) });
    try {
      const gateway = open({ url: `https://127.0.0.1:${proxy.port}`, requestTimeoutMs: 1_000 });
      const pair = () => gateway.send([push(device()), push(device())]);
      expect(await pair()).toEqual(Array(2).fill({ kind: 'accepted' }));
      proxy.forget();
      expect(await pair()).toMatchObject(Array(2).fill({ kind: 'unknown' }));
      await eventually(async () => expect(await pair()).toEqual(Array(2).fill({ kind: 'accepted' })));
    } finally {
      await proxy.close();
    }
  });

  test('retries if the service is unreachable', async () => {
    const { url } = apns;
    await apns.close();
    expect(await open({ url }).send([push(device())])).toMatchObject([{ kind: 'unknown' }]);
    apns = await startApnsSimulator();
  });

  test('reports a rejected key with a remedy for the operator', async () => {
    const remedy = expect.stringContaining('APNS_KEY_FILE');
    for (const given of [{ keyId: 'OTHER' }, { teamId: 'OTHER' }, { key: (await startAndClose()).key }]) {
      expect(await open(given).send([push(device())])).toEqual([
        { kind: 'retry', reason: 'InvalidProviderToken', remedy },
      ]);
    }
    expect(await open({ clock: () => Date.now() - 3 * 3_600_000 }).send([push(device())])).toEqual([
      { kind: 'retry', reason: 'ExpiredProviderToken', remedy },
    ]);
  });

  test('honors Retry-After, even on a connection that accepts no more pushes', async () => {
    await apns.close();
    apns = await startApnsSimulator({ latencyMs: 200 });
    const busy = device();
    const gateway = open();
    await gateway.send([push(device()), push(device())]);
    apns.script(busy, { kind: 'error', status: 429, reason: 'TooManyRequests', retryAfterSeconds: 5 });
    const sending = gateway.send([push(busy)]);
    await eventually(() => expect(apns.requests).toHaveLength(3));
    apns.goAway();
    expect(await sending).toEqual([{ kind: 'retry', reason: 'TooManyRequests', afterMs: 5_000 }]);
  });

  test('loses no push if APNs ends the connections', () => expectNoLossOnGoAway(open(), apns, device));

  test('fits the longest message, cut between code points', async () => {
    const gateway = open();
    const content = longestContent(gateway);
    expect(
      await gateway.send([push(device(), { content, level: 'critical', sound: 's'.repeat(64), badge: 100_000 })]),
    ).toEqual([{ kind: 'accepted' }]);
    const [taken] = apns.pushes;
    expect(taken!.bytes).toBeLessThanOrEqual(4_096);
    expect(taken!.payload.aps.alert!.body).toMatch(/^(🔔)+…$/u);
  });

  test('uses one provider token over many processes and restarts', async () => {
    for (let restart = 0; restart < 20; restart++) {
      const gateway = open();
      expect(await gateway.send([push(device()), push(device())])).toEqual([
        { kind: 'accepted' },
        { kind: 'accepted' },
      ]);
    }
    // Two if a token's fifty minutes end in between.
    expect(apns.providerTokens.size).toBeLessThanOrEqual(2);
    expect(apns.connections).toBe(40);
  });

  test('opens a new connection for a new token', async () => {
    const spanMs = 50 * 60_000;
    let now = Math.ceil(Date.now() / spanMs) * spanMs - 1_000;
    await apns.close();
    apns = await startApnsSimulator({ clock: () => now });
    const gateway = open({ clock: () => now });
    const pair = () => gateway.send([push(device()), push(device())]);
    for (let second = 0; second < 3; second++, now += 1_000)
      expect(await pair()).toEqual(Array(2).fill({ kind: 'accepted' }));
    expect([apns.providerTokens.size, apns.connections]).toEqual([2, 4]);
  });

  test('renews the token after fifty minutes, not before', () => {
    const spanMs = 50 * 60_000;
    const start = Math.ceil(Date.now() / spanMs) * spanMs;
    let now = start;
    const token = apnsProviderToken(apns, () => now);
    const first = token();
    now = start + spanMs - 1;
    expect(token()).toBe(first);
    now = start + spanMs;
    expect(token()).not.toBe(first);
  });
});

async function startAndClose(): Promise<ApnsSimulator> {
  const other = await startApnsSimulator();
  await other.close();
  return other;
}
