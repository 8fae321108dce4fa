import { createECDH } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '@tocsin/shared/platform/clock.ts';
import { privateKeyOf, startWebPushSimulator, type WebPushSimulator } from '@tocsin/simulators/web-push-simulator.ts';
import type { PushGateway } from './push-gateway.ts';
import { longestContent, messageData, push } from './push-gateway.fixtures.ts';
import { openWebPushGateway, type WebPushGatewayOptions } from './web-push-gateway.ts';

describe('the web push gateway', () => {
  let service: WebPushSimulator;
  const gateways: PushGateway[] = [];
  const open = (given: Partial<WebPushGatewayOptions> = {}): PushGateway => {
    const gateway = openWebPushGateway({
      vapid: service.vapid,
      hosts: [service.host],
      ca: service.certificate,
      clock: systemClock,
      requestTimeoutMs: 50_000, // a loaded machine may be slow
      ...given,
    });
    gateways.push(gateway);
    return gateway;
  };

  const pushesOf = (token: string) => service.pushes.filter((one) => one.token === token);

  beforeEach(async () => {
    service = await startWebPushSimulator();
  });
  afterEach(async () => {
    await Promise.all(gateways.splice(0).map((gateway) => gateway.close()));
    await service.close();
  });

  test('sends each push encrypted for its browser', async () => {
    const batch = [
      push(service.newSubscription(), { level: 'urgent' }),
      push(service.newSubscription(), {
        level: 'low',
        sound: null,
        vibrates: false,
        expiresAt: Date.now() + 90 * 86_400_000,
      }),
    ];
    expect(await open().send(batch)).toEqual([{ kind: 'accepted' }, { kind: 'accepted' }]);
    const [urgent, silent] = batch.map(({ pushToken }) => service.pushes.find(({ token }) => token === pushToken)!);
    expect(urgent!.payload).toEqual({
      title: 'alarms',
      body: 'the pump stopped',
      category: null,
      data: messageData,
      tag: 'm-1',
      silent: false,
      vibrates: true,
    });
    expect(urgent!.headers).toMatchObject({ urgency: 'high', topic: expect.stringMatching(/^[\w-]{32}$/) });
    expect(Number(urgent!.headers['ttl'])).toBeGreaterThan(50);
    expect(Number(urgent!.headers['ttl'])).toBeLessThanOrEqual(60);
    expect(silent!.payload).toMatchObject({ silent: true, vibrates: false });
    expect(silent!.headers).toMatchObject({ urgency: 'low', ttl: String(28 * 86_400) });
  });

  test('maps the statuses of push services per browser', async () => {
    const statuses = [404, 410, 429, 400, 413, 301];
    const browsers = statuses.map((status) => {
      const token = service.newSubscription();
      service.script(token, {
        kind: 'error',
        status,
        retryAfterSeconds: 5,
        location: `${service.url}/push/elsewhere`,
      });
      return token;
    });
    const tooLarge = expect.stringContaining('too large');
    expect(await open().send(browsers.map((token) => push(token)))).toEqual([
      { kind: 'dead-token', reason: 'the browser unsubscribed (404)' },
      { kind: 'dead-token', reason: 'the browser unsubscribed (410)' },
      { kind: 'retry', reason: `${service.host} returned 429`, afterMs: 5_000 },
      { kind: 'rejected', reason: `${service.host} returned 400` },
      { kind: 'rejected', reason: tooLarge },
      { kind: 'rejected', reason: `${service.host} returned 301` },
    ]);
    // No redirect was followed, and nothing was sent twice.
    expect(service.requests.map(({ status }) => status).toSorted()).toEqual(statuses.toSorted());
    expect(service.pushes).toEqual([]);
  });

  test('reports an error of the only push service as one of all pushes', async () => {
    service.script('*', { kind: 'error', status: 503, retryAfterSeconds: 7 });
    expect(await open().send([push(service.newSubscription())])).toEqual([
      { kind: 'retry', reason: `${service.host} returned 503`, afterMs: 7_000, isTrouble: true },
    ]);
  });

  test('pauses a failing push service, and not the others', async () => {
    const closed = await startWebPushSimulator();
    await closed.close();
    let now = Date.now();
    const gateway = open({ hosts: [service.host, closed.host], clock: () => now });
    const sendTo = ({ newSubscription }: WebPushSimulator) => gateway.send([push(newSubscription())]);
    expect(await sendTo(service)).toEqual([{ kind: 'accepted' }]);
    const failure = { kind: 'retry', reason: expect.stringContaining(`no response from ${closed.host}`) };
    for (let n = 0; n < 3; n++) expect(await sendTo(closed)).toEqual([failure]);
    const paused = { kind: 'retry', reason: `${closed.host} is unavailable` };
    expect(await sendTo(closed)).toEqual([{ ...paused, afterMs: 1_000 }]);
    expect(await sendTo(service)).toEqual([{ kind: 'accepted' }]);
    now += 1_000;
    expect(await sendTo(closed)).toEqual([failure]);
    expect(await sendTo(closed)).toEqual([{ ...paused, afterMs: 2_000 }]);
  });

  test('a host that a browser invented causes no outage', async () => {
    const gateway = open({ hosts: ['*.invalid'] });
    const invented = service.newSubscription().replace(service.host, 'made-up.invalid');
    expect(await gateway.send([push(invented)])).toEqual([
      { kind: 'retry', reason: expect.stringContaining('no response from made-up.invalid') },
    ]);
  });

  test('sends nothing to a host that is not a push service', async () => {
    const tokens = [service.newSubscription(), 'no subscription'];
    expect(await open({ hosts: ['fcm.googleapis.com'] }).send(tokens.map((token) => push(token)))).toMatchObject([
      { kind: 'dead-token', reason: expect.stringContaining('known push service') },
      { kind: 'dead-token', reason: expect.stringContaining('JSON of a browser subscription') },
    ]);
    expect(service.requests).toEqual([]);
  });

  test('retries if the response is lost or does not come', async () => {
    const [slow, cut] = [service.newSubscription(), service.newSubscription()];
    service.script(slow, { kind: 'hang' });
    service.script(cut, { kind: 'reset' });
    expect(await open({ requestTimeoutMs: 1_000 }).send([push(slow)])).toMatchObject([
      { kind: 'retry', isTrouble: true },
    ]);
    const gateway = open();
    expect(await gateway.send([push(cut)])).toMatchObject([{ kind: 'retry', isTrouble: true }]);
    expect(pushesOf(cut)).toHaveLength(1);
    expect(await gateway.send([push(service.newSubscription())])).toEqual([{ kind: 'accepted' }]);
  });

  test('reads a bounded part of the response', async () => {
    const [dead, fine] = [service.newSubscription(), service.newSubscription()];
    service.script(dead, { kind: 'error', status: 410, bytes: 50_000_000 });
    const gateway = open();
    expect(await gateway.send([push(dead)])).toMatchObject([{ kind: 'dead-token' }]);
    expect(await gateway.send([push(fine)])).toEqual([{ kind: 'accepted' }]);
  });

  test('reports rejected keys with a remedy for the operator', async () => {
    const ecdh = createECDH('prime256v1');
    const publicKey = ecdh.generateKeys('base64url');
    const privateKey = privateKeyOf(ecdh);
    const remedy = expect.stringContaining('VAPID_PUBLIC_KEY');
    for (const [vapid, status] of [
      [{ ...service.vapid, publicKey, privateKey }, 403],
      [{ ...service.vapid, privateKey }, 401],
    ] as const)
      expect(await open({ vapid }).send([push(service.newSubscription())])).toEqual([
        { kind: 'retry', reason: `the push service returned ${status}`, remedy, isOfToken: true },
      ]);
  });

  test('fits the longest message, cut between code points', async () => {
    const gateway = open();
    const content = longestContent(gateway);
    const sent = [push(service.newSubscription(), { content, collapseId: 'c'.repeat(64), sound: null })];
    expect(await gateway.send(sent)).toEqual([{ kind: 'accepted' }]);
    const [taken] = service.pushes;
    expect(taken!.bytes).toBeLessThanOrEqual(4_096);
    expect(taken!.payload.body).toMatch(/^(🔔)+…$/u);
  });

  test('signs once for a push service, and again after six hours', async () => {
    let now = Date.now();
    const gateway = open({ clock: () => now });
    const send = () => gateway.send(Array.from({ length: 3 }, () => push(service.newSubscription())));
    await send();
    await send();
    expect(service.signatures.size).toBe(1);
    now += 6 * 3_600_000;
    await send();
    expect(service.signatures.size).toBe(2);
  });
});
