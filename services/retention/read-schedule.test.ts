import { expect, test } from '@jest/globals';
import { ConfigError } from '@tocsin/shared/platform/load-config.ts';
import { readSchedule } from './read-schedule.ts';

test('a duration is an interval, five fields are a cron expression', () => {
  expect(['60s', '5m', '1h', '2d'].map(readSchedule)).toEqual([60_000, 300_000, 3_600_000, 172_800_000]);
  expect(readSchedule(' 0 3 * * 1 ')).toBe('0 3 * * 1');
});

test('anything else is told to whoever set it', () => {
  for (const text of ['', '60', '0s', '1.5h', 'daily', '* * * *', '0 0 3 * * 1']) {
    expect(() => readSchedule(text)).toThrow(ConfigError);
  }
});
