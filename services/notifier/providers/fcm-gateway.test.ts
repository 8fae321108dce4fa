import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock, type Clock } from '@tocsin/shared/platform/clock.ts';
import type { FcmServiceAccount } from '@tocsin/shared/platform/load-config.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { startFcmSimulator, type FcmSimulator } from '@tocsin/simulators/fcm-simulator.ts';
import { openTcpProxy } from '@tocsin/shared/testing/tcp-proxy.ts';
import { openFcmGateway } from './fcm-gateway.ts';
import type { PushGateway, PushLevel } from './push-gateway.ts';
import { expectNoLossOnGoAway, longestContent, messageData, push } from './push-gateway.fixtures.ts';

const device = () => `${randomBytes(11).toString('base64url')}:APA91b${randomBytes(64).toString('base64url')}`;

describe('the FCM gateway', () => {
  let fcm: FcmSimulator;
  let gateway: PushGateway;
  const open = (given: { answerTimeoutMs?: number; clock?: Clock } = {}): PushGateway => {
    gateway = openFcmGateway({
      url: fcm.url,
      serviceAccount: JSON.parse(fcm.serviceAccount) as FcmServiceAccount,
      clock: systemClock,
      ...given,
    });
    return gateway;
  };

  beforeEach(async () => {
    fcm = await startFcmSimulator();
  });
  afterEach(async () => {
    await gateway.close();
    await fcm.close();
  });

  test('sends each push in the documented format over one connection with one access token', async () => {
    const content = { ...push('').content, category: 'tocsin.actions' as const };
    const batch = [push(device(), { badge: 7, content }), push(device(), { sound: null, vibrates: false })];
    expect(await open().send(batch)).toEqual([{ kind: 'accepted' }, { kind: 'accepted' }]);
    expect(await gateway.send(Array.from({ length: 100 }, () => push(device())))).toEqual(
      Array(100).fill({ kind: 'accepted' }),
    );
    const [heard, still] = batch.map(({ pushToken }) => fcm.pushes.find(({ token }) => token === pushToken)!.message);
    expect(heard).toMatchObject({
      notification: { title: 'alarms', body: 'the pump stopped' },
      data: {
        topic: 'alarms',
        message_id: 'm-1',
        offset: '12',
        priority: '3',
        click: '',
        actions: JSON.stringify(messageData.actions),
        requires_ack: 'false',
        sent_at: messageData.sent_at,
        topic_id: 't-1',
        tags: '["pump"]',
        category: 'tocsin.actions',
      },
      android: {
        priority: 'high',
        ttl: expect.stringMatching(/^(60|59\.\d+)s$/),
        notification: { tag: 'm-1', sound: 'default', channel_id: 'tocsin-default', notification_count: 7 },
      },
    });
    expect(still!.android).toMatchObject({
      priority: 'high',
      notification: { tag: 'm-1', channel_id: 'no-vibration' },
    });
    expect(Object.keys(still!.android!.notification!).sort()).toEqual(['channel_id', 'tag']);
    expect([fcm.connections, fcm.accessTokens.size]).toEqual([1, 1]);
  });

  test.each<[PushLevel, string, string]>([
    ['low', 'normal', 'tocsin-low'],
    ['default', 'high', 'tocsin-default'],
    ['high', 'high', 'tocsin-high'],
    ['urgent', 'high', 'tocsin-urgent'],
    ['critical', 'high', 'tocsin-urgent'],
  ])('a push of the level %s has the priority %s and the channel %s', async (level, priority, channel_id) => {
    const given = push(device(), { level, ...(level === 'low' ? { sound: null, vibrates: false } : {}) });
    expect(await open().send([given])).toEqual([{ kind: 'accepted' }]);
    expect(fcm.pushes).toMatchObject([{ message: { android: { priority, notification: { channel_id } } } }]);
  });

  test('sends each device its own number, whatever the text contains', async () => {
    const text = 'a "notification_count":0 in the text';
    const content = { ...push('').content, body: text };
    const batch = [0, 12, 10_000].map((badge) => push(device(), { content, badge }));
    expect(await open().send(batch)).toEqual(Array(3).fill({ kind: 'accepted' }));
    for (const { pushToken, badge } of batch)
      expect(fcm.pushes.find(({ token }) => token === pushToken)!.message).toMatchObject({
        notification: { body: text },
        android: { notification: { notification_count: badge } },
      });
  });

  test('distinguishes FCM responses per device and sends nothing twice', async () => {
    const [fine, gone, other, quota, asked, broken, key] = Array.from({ length: 7 }, device) as [
      string,
      string,
      string,
      string,
      string,
      string,
      string,
    ];
    fcm.script(gone, { kind: 'error', status: 404, code: 'UNREGISTERED' });
    fcm.script(other, { kind: 'error', status: 403, code: 'SENDER_ID_MISMATCH' });
    fcm.script(quota, { kind: 'error', status: 429, code: 'QUOTA_EXCEEDED' });
    fcm.script(asked, { kind: 'error', status: 503, code: 'UNAVAILABLE', retryAfterSeconds: 5 });
    fcm.script(broken, { kind: 'error', status: 500, code: 'INTERNAL' });
    fcm.script(key, { kind: 'error', status: 401, code: 'THIRD_PARTY_AUTH_ERROR' });
    expect(await open().send([fine, gone, other, quota, asked, broken, key].map((token) => push(token)))).toEqual([
      { kind: 'accepted' },
      { kind: 'dead-token', reason: 'registration-token-not-registered' },
      {
        kind: 'retry',
        reason: 'mismatched-credential',
        remedy: expect.stringContaining('another Firebase project'),
        isOfToken: true,
      },
      { kind: 'retry', reason: 'message-rate-exceeded', afterMs: 60_000 },
      { kind: 'retry', reason: 'server-unavailable', isTrouble: true, afterMs: 5_000 },
      { kind: 'retry', reason: 'internal-error', isTrouble: true },
      { kind: 'retry', reason: 'third-party-auth-error', remedy: 'check FCM_SERVICE_ACCOUNT_FILE', isOfToken: true },
    ]);
    expect(fcm.requests).toHaveLength(7);
  });

  test('distinguishes an invalid token from an invalid push by validating a plain message', async () => {
    const unlucky = device();
    fcm.script(unlucky, { kind: 'error', status: 400, code: 'INVALID_ARGUMENT' }, { kind: 'ok' });
    expect(await open().send([push('no token'), push(unlucky)])).toEqual([
      { kind: 'dead-token', reason: 'not an FCM registration token' },
      { kind: 'rejected', reason: expect.stringMatching(/^invalid-argument: /) },
    ]);
    // Validated messages were not delivered.
    expect(fcm.pushes).toEqual([]);
  });

  test.each([302, 400, 401, 403, 404, 408, 413])(
    'treats a %d that is not from FCM as a temporary error',
    async (status) => {
      fcm.script('*', { kind: 'foreign', status, text: '<html><title>Error (Bad Request)!!1</title></html>' });
      expect(await open().send([push(device())])).toEqual([
        { kind: 'retry', reason: `${status} in a format that is not from FCM`, isTrouble: true },
      ]);
    },
  );

  test('reports a missing or forbidden project with a remedy and keeps its devices active', async () => {
    const send = async (status: number, code: string) => {
      fcm.script('*', { kind: 'error', status, code });
      return (await gateway.send([push(device())]))[0];
    };
    open();
    expect(await send(404, 'NOT_FOUND')).toEqual({
      kind: 'retry',
      reason: 'project-not-found',
      remedy: 'check FCM_SERVICE_ACCOUNT_FILE',
    });
    expect(await send(403, 'PERMISSION_DENIED')).toEqual({
      kind: 'retry',
      reason: 'permission-denied',
      remedy: 'check FCM_SERVICE_ACCOUNT_FILE',
    });
    expect(await send(418, 'UNHEARD')).toMatchObject({ kind: 'rejected' });
  });

  test('reports unknown for lost responses and opens a new connection', async () => {
    const cut = device();
    fcm.script(cut, { kind: 'reset' });
    expect(await open().send([push(cut)])).toMatchObject([{ kind: 'unknown' }]);
    expect(fcm.pushes).toHaveLength(1);
    expect(await gateway.send([push(device())])).toEqual([{ kind: 'accepted' }]);
    expect(fcm.connections).toBe(2);
  });

  test('waits for a response no longer than a claim lasts', async () => {
    const [slow, fine] = [device(), device()];
    fcm.script(slow, { kind: 'hang' });
    expect(await open({ answerTimeoutMs: 1_000 }).send([push(slow), push(fine)])).toEqual([
      { kind: 'unknown', reason: 'the response of FCM took longer than 1000 ms' },
      { kind: 'accepted' },
    ]);
  });

  test('replaces a silent connection after one push without a response', async () => {
    const proxy = await openTcpProxy({ host: '127.0.0.1', port: Number(new URL(fcm.url).port) });
    gateway = openFcmGateway({
      url: `http://127.0.0.1:${proxy.port}`,
      serviceAccount: JSON.parse(fcm.serviceAccount) as FcmServiceAccount,
      clock: systemClock,
      answerTimeoutMs: 1_000,
    });
    try {
      expect(await gateway.send([push(device())])).toEqual([{ kind: 'accepted' }]);
      proxy.forget();
      expect(await gateway.send([push(device())])).toMatchObject([{ kind: 'unknown' }]);
      await eventually(async () => expect(await gateway.send([push(device())])).toEqual([{ kind: 'accepted' }]));
    } finally {
      await proxy.close();
    }
  });

  test('retries if the service is unreachable', async () => {
    const { url, serviceAccount } = fcm;
    await fcm.close();
    gateway = openFcmGateway({
      url,
      serviceAccount: JSON.parse(serviceAccount) as FcmServiceAccount,
      clock: systemClock,
    });
    const [result] = await gateway.send([push(device())]);
    expect(['retry', 'unknown']).toContain(result!.kind);
    fcm = await startFcmSimulator();
  });

  test('requests another access token after a revocation, and reports a remedy if Google issues none', async () => {
    expect(await open().send([push(device())])).toEqual([{ kind: 'accepted' }]);
    fcm.revoke();
    expect(await gateway.send([push(device())])).toEqual([
      { kind: 'retry', reason: 'third-party-auth-error', remedy: 'check FCM_SERVICE_ACCOUNT_FILE' },
    ]);
    expect(await gateway.send(Array.from({ length: 50 }, () => push(device())))).toEqual(
      Array(50).fill({ kind: 'accepted' }),
    );
    expect(fcm.accessTokens.size).toBe(1);
  });

  test("requests an access token at most every ten seconds while FCM rejects them, and none after errors of another provider's key", async () => {
    let now = Date.now();
    open({ clock: () => now });
    const sendMany = async (): Promise<number> => {
      for (let turn = 0; turn < 3; turn++) await gateway.send(Array.from({ length: 20 }, () => push(device())));
      return fcm.accessTokens.size;
    };
    fcm.script('*', { kind: 'error', status: 401, code: 'THIRD_PARTY_AUTH_ERROR' });
    expect(await sendMany()).toBe(1);
    fcm.script('*', { kind: 'error', status: 401, code: 'UNAUTHENTICATED' });
    expect(await sendMany()).toBe(2);
    now += 9_999;
    expect(await sendMany()).toBe(2);
    now += 1;
    expect(await sendMany()).toBe(3);
  });

  test('retries a failed renewal', async () => {
    let now = Date.now();
    expect(await open({ clock: () => now }).send([push(device())])).toEqual([{ kind: 'accepted' }]);
    fcm.revoke();
    fcm.refuseTokens(1);
    expect(await gateway.send([push(device())])).toMatchObject([{ kind: 'retry', reason: 'third-party-auth-error' }]);
    expect(await gateway.send([push(device())])).toMatchObject([
      { kind: 'retry', reason: 'no access token: invalid_grant' },
    ]);
    now += 10_000;
    expect(await gateway.send([push(device())])).toEqual([{ kind: 'accepted' }]);
  });

  test('reports a remedy if Google refuses an access token, and none if Google does not respond', async () => {
    const account = JSON.parse(fcm.serviceAccount) as FcmServiceAccount;
    const other = await startFcmSimulator();
    const { private_key } = JSON.parse(other.serviceAccount) as FcmServiceAccount;
    await other.close();
    const openWith = (serviceAccount: FcmServiceAccount) =>
      openFcmGateway({ url: fcm.url, serviceAccount, clock: systemClock });
    gateway = openWith({ ...account, private_key });
    expect(await gateway.send([push(device())])).toEqual([
      {
        kind: 'retry',
        reason: 'no access token: invalid_grant',
        remedy: 'check FCM_SERVICE_ACCOUNT_FILE and the clock',
      },
    ]);
    await gateway.close();
    gateway = openWith({ ...account, token_uri: 'http://127.0.0.1:1/token' });
    expect(await gateway.send([push(device())])).toEqual([
      { kind: 'retry', reason: expect.stringContaining('no access token'), isTrouble: true },
    ]);
  });

  test('loses no push if FCM ends the connection', () => expectNoLossOnGoAway(open(), fcm, device));

  test('fits the longest message', async () => {
    const content = longestContent(open());
    expect(await gateway.send([push(device(), { content })])).toEqual([{ kind: 'accepted' }]);
    expect(fcm.pushes[0]!.message.notification!.body).toMatch(/^(🔔)+…$/u);
  });
});
