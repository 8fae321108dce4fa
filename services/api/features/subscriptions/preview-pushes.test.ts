import { expect, test } from '@jest/globals';
import type { Priority } from '@tocsin/shared/domain/messages/message.ts';
import { defaultMobileSettings, type MobileSettings } from '@tocsin/shared/domain/push/subscription.ts';
import fc from 'fast-check';
import { previewPushes } from './preview-pushes.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;
const from = Date.parse('2026-03-27T12:00Z');
const to = from + 4 * dayMs;
const quietHours = { start: '22:00', end: '07:00', timezone: 'Europe/Berlin', allowPriority: 5 };

interface Sent {
  readonly time: number;
  readonly priority: Priority;
}

function preview(given: Partial<MobileSettings>, messages: readonly Sent[]) {
  const settings = { ...defaultMobileSettings, ...given };
  const bucketMs = settings.quietHours === null && settings.maxPerMinute === null ? dayMs : minuteMs;
  const counted = (bucket: number) => {
    const counts = new Map<string, { start: number; priority: Priority; count: number }>();
    for (const { time, priority } of messages) {
      const start = Math.floor(time / bucket) * bucket;
      const key = `${start} ${priority}`;
      counts.set(key, { start, priority, count: (counts.get(key)?.count ?? 0) + 1 });
    }
    return [...counts.values()];
  };
  return previewPushes(settings, { from, to, all: counted(dayMs), passing: counted(bucketMs) });
}

const at = (iso: string, priority: Priority = 3): Sent => ({ time: Date.parse(iso), priority });

test('returns every day of the period, also without messages', () => {
  const days = preview({}, [at('2026-03-27T13:00Z', 1), at('2026-03-27T13:00Z', 5), at('2026-03-29T23:59Z', 5)]);
  expect(
    days.map(({ start, messages, wouldPush, byPriority }) => [
      new Date(start).toISOString().slice(0, 10),
      messages,
      wouldPush,
      byPriority,
    ]),
  ).toEqual([
    ['2026-03-27', 2, 2, [1, 0, 0, 0, 1]],
    ['2026-03-28', 0, 0, [0, 0, 0, 0, 0]],
    ['2026-03-29', 1, 1, [0, 0, 0, 0, 1]],
    ['2026-03-30', 0, 0, [0, 0, 0, 0, 0]],
    ['2026-03-31', 0, 0, [0, 0, 0, 0, 0]],
  ]);
});

test('quiet hours hold back messages by local time', () => {
  // Daylight saving starts in that night: 07:00 is 05:00 UTC after it and was 06:00 UTC before.
  const messages = [
    at('2026-03-28T05:30Z'),
    at('2026-03-28T20:59Z'),
    at('2026-03-28T21:00Z'),
    at('2026-03-29T04:59Z', 4),
    at('2026-03-29T04:59Z', 5),
    at('2026-03-29T05:00Z'),
  ];
  const days = preview({ quietHours }, messages);
  expect(days.map(({ messages: all, wouldPush, quiet }) => [all, wouldPush, quiet])).toEqual([
    [0, 0, 0],
    [3, 1, 2],
    [3, 2, 1],
    [0, 0, 0],
    [0, 0, 0],
  ]);
  const none = preview({ quietHours: { ...quietHours, allowPriority: null } }, messages);
  expect(none[2]).toMatchObject({ wouldPush: 1, quiet: 2 });
});

test('collapses messages beyond the limit per minute into one push', () => {
  const burst = (iso: string, count: number, priority: Priority) =>
    Array.from({ length: count }, () => at(iso, priority));
  const [day] = preview({ maxPerMinute: 3 }, [
    ...burst('2026-03-27T13:00:10Z', 4, 2),
    ...burst('2026-03-27T13:00:50Z', 2, 5),
    ...burst('2026-03-27T13:01Z', 1, 2),
  ]);
  expect(day).toMatchObject({ messages: 7, wouldPush: 4, collapsed: 3, byPriority: [0, 2, 0, 0, 2] });
});

test('a digest collects the priorities 1 to 3, also in quiet hours', () => {
  const messages = [at('2026-03-28T12:00Z', 1), at('2026-03-28T23:00Z', 3), at('2026-03-28T23:00Z', 4)];
  const days = preview({ digest: '1h', quietHours }, messages);
  expect(days[1]).toMatchObject({ messages: 3, wouldPush: 0, quiet: 1, collapsed: 0, digest: 2 });
});

test('with any settings every passing message is pushed, quiet, collapsed or collected', () => {
  const sent = fc.record({
    time: fc.integer({ min: from, max: to }),
    priority: fc.constantFrom(...([1, 2, 3, 4, 5] as const)),
  });
  fc.assert(
    fc.property(
      fc.array(sent, { maxLength: 60 }),
      fc.option(fc.integer({ min: 1, max: 3 })),
      fc.boolean(),
      fc.constantFrom(null, '1d' as const),
      (messages, maxPerMinute, isQuiet, digest) => {
        const days = preview({ maxPerMinute, digest, quietHours: isQuiet ? quietHours : null }, messages);
        for (const day of days) {
          expect(day.wouldPush + day.quiet + day.collapsed + day.digest).toBe(day.messages);
          expect(day.byPriority.reduce((sum, count) => sum + count, 0)).toBe(day.wouldPush);
        }
        expect(days.reduce((sum, { messages: count }) => sum + count, 0)).toBe(messages.length);
      },
    ),
    { numRuns: 300 },
  );
});
