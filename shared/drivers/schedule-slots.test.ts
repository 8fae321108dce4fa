import { expect, test } from '@jest/globals';
import { scheduleSlots } from './schedule-slots.ts';

const time = (text: string): number => Date.parse(text);

test('the slots of an interval are its multiples since the epoch', () => {
  const slots = scheduleSlots(250);
  expect(slots.after(0)).toBe(250);
  expect(slots.after(249)).toBe(250);
  expect(slots.after(250)).toBe(500);
  expect(scheduleSlots(86_400_000).after(time('2026-05-05T13:00:00Z'))).toBe(time('2026-05-06T00:00:00Z'));
});

test('the slots of a cron expression are increasing times in UTC', () => {
  const slots = scheduleSlots('*/20 2 * * *');
  const first = slots.after(time('2026-03-29T01:30:00Z'));
  expect(first).toBe(time('2026-03-29T02:00:00Z'));
  expect(slots.after(first!)).toBe(time('2026-03-29T02:20:00Z'));
  expect(slots.after(time('2026-03-29T02:39:59.999Z'))).toBe(time('2026-03-29T02:40:00Z'));
  expect(slots.after(time('2026-03-29T02:40:00Z'))).toBe(time('2026-03-30T02:00:00Z'));
});

test('an expression that never matches has no slots', () => {
  expect(scheduleSlots('0 0 30 2 *').after(0)).toBeNull();
});
