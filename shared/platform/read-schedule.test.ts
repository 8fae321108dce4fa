import { expect, test } from '@jest/globals';
import { readSchedule } from './read-schedule.ts';

test('reads durations as intervals and five fields as cron expressions', () => {
  expect(['60s', '5m', '1h', '2d'].map(readSchedule)).toEqual([60_000, 300_000, 3_600_000, 172_800_000]);
  expect(readSchedule(' 0 3 * * 1 ')).toBe('0 3 * * 1');
});

test('rejects anything else, and schedules that never occur', () => {
  for (const text of [
    '',
    '60',
    '0s',
    '1.5h',
    'daily',
    '* * * *',
    '0 0 3 * * 1',
    '99 99 * * *',
    'a b c d e',
    '0 0 31 2 *',
  ]) {
    expect(() => readSchedule(text)).toThrow(RangeError);
  }
});
