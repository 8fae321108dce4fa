import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '@tocsin/shared/platform/clock.ts';
import { startExpoSimulator, type ExpoSimulator } from '@tocsin/simulators/expo-simulator.ts';
import { openExpoGateway, type ExpoGatewayOptions } from './expo-gateway.ts';
import type { PushGateway, PushLevel } from './push-gateway.ts';
import { messageData, push } from './push-gateway.fixtures.ts';

const token = (n: number | string): string => `ExponentPushToken[${n}]`;

describe('the Expo gateway', () => {
  let expo: ExpoSimulator;
  let gateway: PushGateway;
  const open = (given: Partial<ExpoGatewayOptions> = {}): PushGateway => {
    gateway = openExpoGateway({ url: expo.url, clock: systemClock, ...given });
    return gateway;
  };

  beforeEach(async () => {
    expo = await startExpoSimulator();
  });
  afterEach(async () => {
    await gateway.close();
    await expo.close();
  });

  test('sends a full batch in one request in the documented format', async () => {
    const content = { ...push('').content, category: 'tocsin.actions' as const };
    const batch = Array.from({ length: 100 }, (_, n) => push(token(n), { badge: 7, content, sound: null }));
    expect(await open().send(batch)).toEqual(batch.map(() => ({ kind: 'accepted', ticket: expect.any(String) })));
    expect(expo.requests).toMatchObject([{ size: 100, status: 200 }]);
    const { message } = expo.pushes[0]!;
    expect(message).toMatchObject({
      to: token(0),
      title: 'alarms',
      body: 'the pump stopped',
      data: messageData,
      categoryId: 'tocsin.actions',
      sound: null,
      priority: 'high',
      interruptionLevel: 'active',
      badge: 7,
      collapseId: 'm-1',
      tag: 'm-1',
    });
    expect(message.ttl).toBeGreaterThan(50);
    expect(message.channelId).toBeUndefined();
  });

  test('sets a channel only for a subscriber without vibration', async () => {
    await open().send([push(token(1), { vibrates: false })]);
    expect(expo.pushes[0]!.message).toMatchObject({ channelId: 'no-vibration', priority: 'high', sound: 'default' });
    expect(expo.pushes[0]!.message).not.toHaveProperty('badge');
  });

  test.each<[PushLevel, string, string, unknown]>([
    ['low', 'normal', 'passive', null],
    ['default', 'high', 'active', 'bell.caf'],
    ['high', 'high', 'time-sensitive', 'bell.caf'],
    ['urgent', 'high', 'time-sensitive', 'bell.caf'],
    ['critical', 'high', 'critical', { critical: true, name: 'bell.caf', volume: 1 }],
  ])('a push of the level %s has the priority %s and is %s', async (level, priority, interruptionLevel, sound) => {
    const isLow = level === 'low';
    await open().send([push(token(1), { level, sound: isLow ? null : 'bell.caf', vibrates: !isLow })]);
    expect(expo.pushes).toMatchObject([{ message: { priority, interruptionLevel, sound } }]);
    expect(expo.pushes[0]!.message).not.toHaveProperty('channelId');
  });

  test('sends the access token', async () => {
    await expo.close();
    expo = await startExpoSimulator({ accessToken: 'secret' });
    expect(await open({ accessToken: 'secret' }).send([push(token(1))])).toEqual([
      { kind: 'accepted', ticket: expect.any(String) },
    ]);
    await gateway.close();
    expect(await open({ accessToken: 'wrong' }).send([push(token(1))])).toMatchObject([
      { kind: 'retry', reason: 'Expo returned 401', remedy: 'check EXPO_ACCESS_TOKEN' },
    ]);
  });

  test('distinguishes tickets per token', async () => {
    expo.script(token('dead'), { kind: 'ticket-error', error: 'DeviceNotRegistered' });
    expo.script(token('busy'), { kind: 'ticket-error', error: 'MessageRateExceeded' });
    expo.script(token('big'), { kind: 'ticket-error', error: 'MessageTooBig' });
    const results = await open().send([
      push(token('dead')),
      push(token('fine')),
      push(token('busy')),
      push(token('big')),
      push('no token'),
    ]);
    expect(results.map((result) => result.kind)).toEqual(['dead-token', 'accepted', 'retry', 'rejected', 'dead-token']);
  });

  test('returns the receipt of each ticket, and none for an unknown ticket', async () => {
    expo.script(token('dead'), { kind: 'receipt-error', error: 'DeviceNotRegistered' });
    expo.script(token('keys'), { kind: 'receipt-error', error: 'InvalidCredentials' });
    const sent = await open().send([push(token('dead')), push(token('fine')), push(token('keys'))]);
    const tickets = sent.map((result) => (result.kind === 'accepted' ? result.ticket! : ''));
    expect(await gateway.receipts!([...tickets, 'another'])).toEqual({
      kind: 'answered',
      results: new Map<string, unknown>([
        [tickets[0]!, { kind: 'dead-token', reason: 'DeviceNotRegistered' }],
        [tickets[1]!, { kind: 'accepted' }],
        [tickets[2]!, { kind: 'retry', reason: 'InvalidCredentials', remedy: expect.any(String), isOfToken: true }],
      ]),
    });
    await expo.close();
    expect(await gateway.receipts!(tickets)).toMatchObject({
      kind: 'retry',
      reason: expect.stringContaining('no response from Expo'),
    });
    expo = await startExpoSimulator();
  });

  test('pauses all requests for Retry-After after a 429', async () => {
    expo.script(token(1), { kind: 'status', status: 429, retryAfterSeconds: 30 });
    expect(await open().send([push(token(1))])).toEqual([
      { kind: 'retry', reason: 'Expo returned 429', afterMs: 30_000 },
    ]);
    expect(await gateway.send([push(token(2))])).toMatchObject([{ kind: 'retry', reason: 'Expo asked to wait' }]);
    expect(expo.requests).toHaveLength(1);
  });

  test('reports a server error as retryable without retrying itself', async () => {
    expo.script(token(1), { kind: 'status', status: 503 });
    expect(await open().send([push(token(1)), push(token(2))])).toEqual(
      Array(2).fill({ kind: 'retry', reason: 'Expo returned 503', isTrouble: true }),
    );
    expect(expo.requests).toHaveLength(1);
  });

  test.each([400, 401, 403, 404, 408, 422])(
    'treats a %d that is not from Expo as a temporary error',
    async (status) => {
      expo.script('*', { kind: 'foreign', status, text: '<html>Request blocked</html>' });
      expect(await open().send([push(token(1)), push(token(2))])).toEqual(
        Array(2).fill({ kind: 'retry', reason: `${status} in a format that is not from Expo`, isTrouble: true }),
      );
      expect(expo.requests).toHaveLength(1);
    },
  );

  test.each<[string, string]>([
    ['is cut off', '{"data":[{"status":"ok","id":"1"},'],
    ['is a page', '<html>Welcome</html>'],
    ['has fewer tickets than pushes', '{"data":[{"status":"ok","id":"1"}]}'],
    ['contains an invalid ticket', '{"data":[{"status":"ok","id":"1"},null]}'],
    ['is not a list of tickets', '{"data":null}'],
    ['is no object', 'null'],
  ])('reports unknown if the response %s', async (_, text) => {
    expo.script('*', { kind: 'foreign', status: 200, text });
    expect(await open().send([push(token(1)), push(token(2))])).toEqual(
      Array(2).fill({ kind: 'unknown', reason: 'invalid response from Expo' }),
    );
  });

  test("missing credentials of a token's project do not affect other pushes", async () => {
    expo.script(token('keys'), { kind: 'ticket-error', error: 'InvalidCredentials' });
    expo.script(token('sender'), { kind: 'ticket-error', error: 'MismatchSenderId' });
    expo.script(token('closed'), { kind: 'status', status: 403 });
    open();
    for (const to of ['keys', 'sender', 'closed']) {
      expect(await gateway.send([push(token(to))])).toEqual([
        { kind: 'retry', reason: expect.any(String), remedy: expect.any(String), isOfToken: true },
      ]);
    }
  });

  test('reports unknown for lost responses', async () => {
    expo.script(token('cut'), { kind: 'reset' });
    expo.script(token('slow'), { kind: 'hang' });
    open({ requestTimeoutMs: 2_000 });
    expect(await gateway.send([push(token('cut'))])).toMatchObject([{ kind: 'unknown' }]);
    expect(await gateway.send([push(token('slow'))])).toMatchObject([
      { kind: 'unknown', reason: 'no response from Expo: timed out' },
    ]);
    expect(expo.pushes).toHaveLength(2);
  });

  test('a token of another project, or one that Expo rejects, does not fail the rest of its batch', async () => {
    expo.setProject(token(13), '@someone/else');
    expo.script(token(57), { kind: 'status', status: 400 });
    const batch = Array.from({ length: 100 }, (_, n) => push(token(n)));
    const results = await open({ batchTimeoutMs: 60_000 }).send(batch);
    expect(results.flatMap((result, n) => (result.kind === 'accepted' ? [] : [[n, result.kind]]))).toEqual([
      [57, 'rejected'],
    ]);
    expect(expo.duplicates().size).toBe(0);
    expect(expo.pushes).toHaveLength(99);
  });

  test.each([301, 302, 303, 307, 308])('does not follow a %d redirect', async (status) => {
    const visits: string[] = [];
    const elsewhere = createServer((request, response) => response.end(String(visits.push(request.url!))));
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    const target = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`;
    const relay = createServer((request, response) =>
      request.resume().on('end', () => response.writeHead(status, { Location: target }).end()),
    );
    await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
    const [{ kind }] = (await open({ url: `http://127.0.0.1:${(relay.address() as AddressInfo).port}` }).send([
      push(token(1)),
    ])) as [{ kind: string }];
    for (const server of [relay, elsewhere]) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
    expect(kind).not.toBe('accepted');
    expect(visits).toEqual([]);
  });

  test("stays below Expo's rate limit per project", async () => {
    open();
    const startedAt = performance.now();
    const batches = Array.from({ length: 7 }, (_, b) =>
      Array.from({ length: 100 }, (_, n) => push(token(b * 100 + n))),
    );
    await Promise.all(batches.map((batch) => gateway.send(batch)));
    expect(performance.now() - startedAt).toBeGreaterThan(990);
    expect(expo.pushes).toHaveLength(700);
  });

  test('leaves the turn to other batches if it comes after the deadline', async () => {
    let now = systemClock();
    open({ batchTimeoutMs: 600, clock: () => now });
    const sendHundred = async () => (await gateway.send(Array.from({ length: 100 }, (_, n) => push(token(n)))))[0]!;
    const results = await Promise.all(Array.from({ length: 12 }, sendHundred));
    const refused = results.filter(({ kind }) => kind !== 'accepted');
    // Four have a turn within the time: after 0, 167, 333 and 500 ms.
    expect(refused).toHaveLength(8);
    for (const one of refused)
      expect(one).toMatchObject({ kind: 'retry', reason: 'waiting for the rate limit of Expo' });
    now += 667; // twelve turns would take two seconds
    expect((await sendHundred()).kind).toBe('accepted');
  });
});
