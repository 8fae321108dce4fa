import { expect, test } from '@jest/globals';
import { formatDuration, parseDuration } from './duration.ts';

test.each([
  ['30s', 30_000],
  ['10m', 600_000],
  ['2h', 7_200_000],
  ['7d', 604_800_000],
  ['0s', 0],
])('%s is %d milliseconds, and is written like that', (text, durationMs) => {
  expect(parseDuration(text)).toBe(durationMs);
  expect(formatDuration(durationMs)).toBe(text);
});

test.each(['', '5', 's', '-5s', '1.5h', '1h30m', ' 5s', '5S', '9999999999s'])('"%s" is not a duration', (text) => {
  expect(parseDuration(text)).toBeNull();
});

test('is written in the largest whole unit', () => {
  expect(formatDuration(90_000)).toBe('90s');
  expect(formatDuration(3_600_000)).toBe('1h');
});
