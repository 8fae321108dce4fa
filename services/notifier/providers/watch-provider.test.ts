import { beforeEach, describe, expect, test } from '@jest/globals';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import type { PushGateway, PushRequest, PushResult } from './push-gateway.ts';
import { watchProvider, type WatchedGateway } from './watch-provider.ts';

const push = (pushToken = 'phone'): PushRequest => ({
  pushToken,
  content: { title: 't', body: 'b', category: null, data: { test: true } },
  level: 'default',
  sound: null,
  vibrates: true,
  badge: null,
  collapseId: 'c',
  expiresAt: 0,
});
const silent: PushResult = { kind: 'unknown', reason: 'no response from APNs' };
const accepted: PushResult = { kind: 'accepted' };

describe('a watched provider', () => {
  let now = 0;
  /** The results of the next batches; then `accepted`. */
  let answers: (PushResult | Promise<PushResult>)[];
  let sentCount: number;
  let lines: Record<string, unknown>[];
  let changes: boolean[];
  let watched: WatchedGateway;

  beforeEach(() => {
    [now, answers, sentCount, lines, changes] = [1_000_000, [], 0, [], []];
    const gateway: PushGateway = {
      batchSizeMax: 100,
      payloadBytesMax: 4_096,
      async send(batch) {
        sentCount += 1;
        const result = await (answers.shift() ?? accepted);
        return batch.map(() => result);
      },
      close: () => Promise.resolve(),
    };
    const log = openLogger('test', 'info', {
      write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>),
    });
    watched = watchProvider(gateway, {
      platform: 'ios',
      clock: () => now,
      log,
      onChange: (isAway) => void changes.push(isAway),
    });
  });

  const pausedMs = (): number => watched.pausedMs({ isUrgent: true });
  const sendEach = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n++) await watched.send([push()]);
  };

  test('counts as down after three batches without a response, and is then probed after pauses that double up to half a minute', async () => {
    answers = Array<PushResult>(100).fill(silent);
    await sendEach(2);
    expect([pausedMs(), changes]).toEqual([0, []]);
    await sendEach(1);
    const pauses: number[] = [];
    for (let n = 0; n < 7; n++) {
      const pauseMs = pausedMs();
      pauses.push(pauseMs);
      now += pauseMs - 1;
      expect(await watched.send([push(), push()])).toEqual(
        Array(2).fill({ kind: 'retry', reason: 'no response from APNs' }),
      );
      now += 1;
      expect(pausedMs()).toBe(0);
      await sendEach(1);
    }
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    expect([sentCount, changes]).toEqual([3 + 7, [true]]);
  });

  test('is probed by one batch at a time, and resumes after the first accepted push', async () => {
    const trying = Promise.withResolvers<PushResult>();
    answers = [silent, silent, silent, trying.promise];
    await sendEach(3);
    now += 1_000;
    const first = watched.send([push()]);
    expect(await watched.send([push()])).toMatchObject([{ kind: 'retry' }]);
    expect([sentCount, pausedMs()]).toEqual([4, 1_000]);
    trying.resolve(accepted);
    expect(await first).toEqual([accepted]);
    expect([pausedMs(), changes]).toEqual([0, [true, false]]);
    expect(await watched.send([push()])).toEqual([accepted]);
  });

  test('defers urgent pushes during a probe for as long as it has taken, at least a second; others for a pause', async () => {
    const probing = Promise.withResolvers<PushResult>();
    answers = [...Array<PushResult>(6).fill(silent), probing.promise];
    await sendEach(3);
    for (let failed = 0; failed < 3; failed++) {
      now += pausedMs();
      await sendEach(1);
    }
    now += pausedMs();
    const probe = watched.send([push()]);
    const pauses: number[] = [];
    const others: number[] = [];
    for (const afterMs of [0, 500, 3_000, 9_000]) {
      now += afterMs;
      pauses.push(watched.pausedMs({ isUrgent: true }));
      others.push(watched.pausedMs({ isUrgent: false }));
    }
    probing.resolve(silent);
    await probe;
    expect([pauses, others]).toEqual([[1_000, 1_000, 3_500, 8_000], Array(4).fill(8_000)]);
    expect(pausedMs()).toBe(16_000);
  });

  test.each<[string, () => Promise<PushResult>]>([
    ['says nothing about the provider', () => Promise.resolve({ kind: 'dead-token', reason: 'Unregistered' })],
    ['fails itself', () => Promise.reject(new Error('a program error'))],
  ])('is probed again immediately after a probe that %s', async (_, answer) => {
    answers = [silent, silent, silent];
    await sendEach(3);
    now += 1_000;
    answers = [answer()];
    await watched.send([push()]).catch(() => undefined);
    expect([pausedMs(), changes]).toEqual([0, [true]]);
    expect(await watched.send([push()])).toEqual([accepted]);
    expect(changes).toEqual([true, false]);
  });

  test('is logged as down once per minute, and when it recovers', async () => {
    answers = Array<PushResult>(50).fill(silent);
    await sendEach(3);
    const until = now + 150_000;
    for (; now < until; now += 1_000) await sendEach(2);
    answers = [];
    now += 30_000;
    await sendEach(1);
    expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
      ...Array<unknown>(3).fill(['warn', 'APNs rejects pushes, pausing']),
      ['info', 'APNs accepts pushes again'],
    ]);
    expect(lines[0]).toMatchObject({ platform: 'ios', reason: 'no response from APNs', awaySeconds: 0 });
    expect(lines[3]).toMatchObject({ platform: 'ios', awaySeconds: 180 });
  });

  test('counts as down if it rejects the installation', async () => {
    const refusal: PushResult = { kind: 'retry', reason: 'ExpiredProviderToken', remedy: 'check APNS_KEY_FILE' };
    answers = [refusal, refusal, refusal];
    await sendEach(3);
    expect(await watched.send([push()])).toEqual([refusal]);
    expect([sentCount, changes, lines]).toEqual([3, [true], []]);
  });

  test.each<[string, PushResult]>([
    ['a rate-limited device', { kind: 'retry', reason: 'TooManyRequests', afterMs: 5_000 }],
    ['a dead token', { kind: 'dead-token', reason: 'Unregistered' }],
    [
      'a device of a foreign app',
      { kind: 'retry', reason: 'mismatched-credential', remedy: 'check FCM_SERVICE_ACCOUNT_FILE', isOfToken: true },
    ],
    ['a rejected push', { kind: 'rejected', reason: '413 PayloadTooLarge' }],
  ])('does not count as down for %s', async (_, result) => {
    answers = Array<PushResult>(10).fill(result);
    await sendEach(10);
    expect([sentCount, changes]).toEqual([10, []]);
  });

  test('does not count as down while it accepts some pushes', async () => {
    answers = [silent, silent, accepted, silent, silent, accepted];
    await sendEach(6);
    expect([sentCount, changes]).toEqual([6, []]);
  });
});
