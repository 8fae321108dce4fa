import { describe, expect, test } from '@jest/globals';
import { readRetryAfter } from './watched-agent.ts';

const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1_000).toUTCString();

describe('Retry-After', () => {
  test('accepts seconds or a date', () => {
    expect([readRetryAfter('0'), readRetryAfter('120')]).toEqual([0, 120_000]);
    expect(Math.abs(readRetryAfter(inSeconds(120))! - 120_000)).toBeLessThan(10_000);
    expect(readRetryAfter(inSeconds(-120))).toBe(0);
  });

  test.each(['9'.repeat(400), '1795402369147', inSeconds(86_400), 'Fri, 31 Dec 9999 23:59:59 GMT'])(
    'is limited to an hour, %#',
    (value) => {
      expect(readRetryAfter(value)).toBe(3_600_000);
    },
  );

  test.each([undefined, '', '-5', '1.5', 'soon', ['1', '2']])('ignores %s', (value) => {
    expect(readRetryAfter(value)).toBeNull();
  });
});
