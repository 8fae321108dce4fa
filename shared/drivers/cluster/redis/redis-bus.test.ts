import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openLogger } from '../../../platform/logger.ts';
import { busContract } from '../../../contracts/bus/bus.contract.ts';
import type { Bus } from '../../../ports/bus/bus.ts';
import { Unconfirmed } from '../../../ports/bus/pub-sub.ts';
import type { BudgetWindow } from '../../../ports/bus/rate-limiter.ts';
import { eventually } from '../../../testing/eventually.ts';
import { openTcpProxy, type TcpProxy } from '../../../testing/tcp-proxy.ts';
import { describeWithEngines } from '../../../testing/describe-with-engines.ts';
import { openRedisBus } from './redis-bus.ts';
import { newRedisPlace } from './redis-bus.place.ts';

describeWithEngines('redis', ({ redisUrl }) => {
  busContract('redis', () => newRedisPlace(redisUrl));

  describe('redis: a bus during an outage', () => {
    let place: Awaited<ReturnType<typeof newRedisPlace>>;
    let proxy: TcpProxy;
    /** Connects to Redis through the proxy. */
    let bus: Bus;
    /** Connects directly. */
    let other: Bus;
    let events: boolean[];

    const openThroughProxy = (): Promise<Bus> => {
      const url = new URL(redisUrl);
      url.host = `127.0.0.1:${proxy.port}`;
      return openRedisBus({
        url: url.href,
        keyPrefix: place.keyPrefix,
        clock: Date.now,
        log: openLogger('test', 'silent'),
      });
    };

    beforeEach(async () => {
      place = await newRedisPlace(redisUrl);
      const { hostname, port } = new URL(redisUrl);
      proxy = await openTcpProxy({ host: hostname, port: Number(port || 6379) });
      bus = await openThroughProxy();
      other = await place.open();
      events = [];
      bus.onConnected((connected) => events.push(connected));
    });
    afterEach(async () => {
      await bus.close();
      await other.close();
      await proxy.close();
      await place.remove();
    });

    const nextPayload = async (channel: string): Promise<string[]> => {
      const seen: string[] = [];
      await bus.subscribe(channel, (payload) => seen.push(payload));
      return seen;
    };

    test('rejects publishes immediately during an outage, and accepts them after recovery', async () => {
      proxy.cut({ refuse: true });
      await eventually(() => !bus.isConnected);
      const started = performance.now();
      await expect(bus.publish('a', ['x'])).rejects.toMatchObject({ code: 'unavailable' });
      await expect(bus.ping()).rejects.toMatchObject({ code: 'unavailable' });
      await expect(bus.countConnections('a', 'node')).rejects.toMatchObject({ code: 'unavailable' });
      expect(performance.now() - started).toBeLessThan(500); // waiting for a response would take 0.75 seconds each
      proxy.restore();
      await eventually(() => bus.isConnected);
      await bus.publish('a', ['x']);
      await bus.ping();
    });

    test('resubscribes after a cut connection and reports when all subscriptions are back', async () => {
      const channels = Array.from({ length: 2_500 }, (_, n) => `channel-${n}`);
      const seen: string[] = [];
      // In groups, because all of them together could exceed the command timeout on a busy machine, which closes the
      // connection.
      for (let at = 0; at < channels.length; at += 100) {
        await Promise.all(
          channels.slice(at, at + 100).map((channel) => bus.subscribe(channel, (payload) => seen.push(payload))),
        );
      }
      proxy.cut();
      await eventually(() => expect(events).toEqual([false, true]));
      for (const channel of channels) await other.publish(channel, [channel]);
      await eventually(() => expect(seen.length).toBe(channels.length));
      expect(new Set(seen)).toEqual(new Set(channels));
    });

    test('reports a silent Redis as unavailable within two seconds, even for running commands', async () => {
      const seen = await nextPayload('a');
      proxy.hold();
      const started = performance.now();
      await expect(bus.publish('a', ['lost'])).rejects.toMatchObject({ code: 'unavailable' });
      await eventually(() => !bus.isConnected, { timeoutMs: 5_000 });
      expect(performance.now() - started).toBeLessThan(4_000); // two seconds, plus tolerance for a busy machine
      expect(events).toEqual([false]);
      proxy.restore();
      await eventually(() => expect(events).toEqual([false, true]));
      await other.publish('a', ['heard']);
      await eventually(() => expect(seen.at(-1)).toBe('heard'));
    });

    test('keeps retrying while Redis accepts connections without responding', async () => {
      proxy.hold();
      await eventually(() => !bus.isConnected, { timeoutMs: 5_000 });
      const attempts = proxy.acceptedCount;
      await eventually(() => expect(proxy.acceptedCount).toBeGreaterThanOrEqual(attempts + 4), { timeoutMs: 14_000 });
      proxy.cut();
      await eventually(() => bus.isConnected);
    });

    test('an unconfirmed subscription ends with its connection and is confirmed after recovery', async () => {
      proxy.hold();
      const seen: string[] = [];
      const failure = await bus.subscribe('a', (payload) => seen.push(payload)).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(Unconfirmed);
      expect(bus.isConnected).toBe(false);
      proxy.restore();
      await eventually(() => bus.isConnected);
      await other.publish('a', ['follows']);
      await eventually(() => expect(seen).toEqual(['follows']));
    });

    test('a subscription during an outage fails immediately and is confirmed after recovery', async () => {
      proxy.cut({ refuse: true });
      await eventually(() => !bus.isConnected);
      const seen: string[] = [];
      const started = performance.now();
      const failure = await bus.subscribe('a', (payload) => seen.push(payload)).catch((error: unknown) => error);
      expect(performance.now() - started).toBeLessThan(500);
      expect(failure).toBeInstanceOf(Unconfirmed);
      expect(failure).toMatchObject({ code: 'unavailable' });
      proxy.restore();
      await eventually(() => bus.isConnected);
      await other.publish('a', ['follows']);
      await eventually(() => expect(seen).toEqual(['follows']));
      await (failure as Unconfirmed).subscription.close();
      const later = await nextPayload('a');
      await other.publish('a', ['later']);
      await eventually(() => expect(later).toEqual(['later']));
      expect(seen).toEqual(['follows']);
    });

    test('another listener of a confirmed channel also gets the failure', async () => {
      await nextPayload('a');
      proxy.cut({ refuse: true });
      await eventually(() => !bus.isConnected);
      await expect(bus.subscribe('a', () => undefined)).rejects.toBeInstanceOf(Unconfirmed);
    });

    test('counts budgets locally during an outage, without errors and with limits', async () => {
      const window: BudgetWindow = { key: '{a}', limit: 5, span: { lengthMs: 3_600_000 } };
      for (let n = 0; n < 3; n += 1) await bus.takeBudget([window], Date.now());
      proxy.cut({ refuse: true });
      await eventually(() => !bus.isConnected);
      const states = await Promise.all(Array.from({ length: 20 }, () => bus.takeBudget([window], Date.now())));
      expect(states.filter(({ accepted }) => accepted).length).toBe(5);
      await bus.refundBudget([window], Date.now());
      expect(await bus.peekBudget([window], Date.now())).toMatchObject({ accepted: true, windows: [{ remaining: 1 }] });
      proxy.restore();
      await eventually(() => bus.isConnected);
      expect(await bus.takeBudget([window], Date.now())).toMatchObject({ accepted: true, windows: [{ remaining: 1 }] });
    });

    test('returns a budget within two seconds while Redis is silent', async () => {
      const window: BudgetWindow = { key: '{a}', limit: 5, span: { lengthMs: 3_600_000 } };
      proxy.hold();
      const started = performance.now();
      expect(await bus.takeBudget([window], Date.now())).toMatchObject({ accepted: true, windows: [{ remaining: 4 }] });
      expect(performance.now() - started).toBeLessThan(4_000); // two seconds, plus tolerance for a busy machine
    });

    test('a bus opened during an outage recovers afterwards', async () => {
      await bus.close();
      proxy.cut({ refuse: true });
      bus = await openThroughProxy();
      expect(bus.isConnected).toBe(false);
      proxy.restore();
      await eventually(() => bus.isConnected);
      const seen = await nextPayload('a');
      await bus.publish('a', ['x']);
      await eventually(() => expect(seen).toEqual(['x']));
    });

    test('does not call a removed connection listener', async () => {
      const reported: boolean[] = [];
      bus.onConnected((connected) => reported.push(connected))();
      proxy.cut();
      await eventually(() => expect(events).toEqual([false, true]));
      expect(reported).toEqual([]);
    });
  });
});
