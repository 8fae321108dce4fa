import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Digest } from '@tocsin/shared/collections/push/digests.ts';
import { dueAfter, leaseMs, timesAfterSetBack } from './digest-times.ts';

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];
const now = Date.parse('2026-11-25T10:00:00Z');
const digest = (given: Partial<Digest> = {}): Digest => ({
  id: 'u 15m',
  version: 1,
  userId: 'u',
  every: '15m',
  timeOfDay: null,
  timezone: null,
  dueAt: now + 15 * minuteMs,
  decidedAt: now,
  claimedAt: null,
  round: 0,
  giveUpAt: null,
  ...given,
});
const daily = { every: '1d', timeOfDay: '08:00', timezone: 'Europe/Berlin' } as const;

describe('the time of a digest', () => {
  test.each([
    ['a quarter of an hour after the first message', digest(), now + 15 * minuteMs],
    ['an hour after it', digest({ every: '1h' }), now + hourMs],
    ['at the next time of day', daily, Date.parse('2026-11-26T07:00:00Z')],
  ])('%s', (_, schedule, expected) => {
    expect(dueAfter(schedule, now)).toBe(expected);
  });

  test('after the clock was set back, messages wait no longer than new ones, and a notifier keeps its time', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(digest(), digest({ every: '1h' }), digest(daily)),
        fc.integer({ min: 0, max: 3 * dayMs }),
        fc.boolean(),
        (of, backMs, isClaimed) => {
          const before = { ...of, dueAt: dueAfter(of, now), claimedAt: isClaimed ? now : null };
          const after = timesAfterSetBack(before, now - backMs);
          expect(after.decidedAt).toBe(now - backMs);
          expect(after.claimedAt).toBe(before.claimedAt);
          expect(after.dueAt).toBeLessThanOrEqual(before.dueAt);
          const latest = isClaimed ? now - backMs + leaseMs : dueAfter(of, now - backMs);
          expect(after.dueAt).toBeLessThanOrEqual(latest);
          expect(after.dueAt).toBeGreaterThan(now - backMs);
        },
      ),
    );
  });
});
