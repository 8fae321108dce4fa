import { describe, expect, test } from '@jest/globals';
import { parseDelay } from './parse-delay.ts';

/** A Wednesday, 13:00 in Berlin. */
const now = Date.parse('2026-11-25T12:00:00.000Z');

const at = (delay: string, timezone?: string, from = now) => {
  const time = parseDelay(delay, timezone, from);
  return time === null ? null : new Date(time).toISOString();
};

test.each([
  ['10s', '2026-11-25T12:00:10.000Z'],
  ['30m', '2026-11-25T12:30:00.000Z'],
  ['30min', '2026-11-25T12:30:00.000Z'],
  ['45 minutes', '2026-11-25T12:45:00.000Z'],
  ['2h', '2026-11-25T14:00:00.000Z'],
  ['1h30m', '2026-11-25T13:30:00.000Z'],
  ['1d 12 hours', '2026-11-27T00:00:00.000Z'],
  ['2 days', '2026-11-27T12:00:00.000Z'],
  [' 30 D ', '2026-12-25T12:00:00.000Z'],
])('reads the duration %j', (text, expected) => {
  expect(at(text)).toBe(expected);
});

test.each([
  ['1764072600', '2025-11-25T12:10:00.000Z'],
  ['1764072600.5', '2025-11-25T12:10:00.500Z'],
])('reads Unix seconds: %j', (text, expected) => {
  expect(at(text, undefined, now - 365 * 86_400_000)).toBe(expected);
});

test.each([
  ['2026-11-26T10:00:00Z', undefined, '2026-11-26T10:00:00.000Z'],
  ['2026-11-26T10:00+02:00', 'America/New_York', '2026-11-26T08:00:00.000Z'],
  ['2026-11-26T10:00', undefined, '2026-11-26T10:00:00.000Z'],
  ['2026-11-26T10:00:00.250', 'Europe/Berlin', '2026-11-26T09:00:00.250Z'],
  ['2026-11-26 10:00', 'Europe/Berlin', '2026-11-26T09:00:00.000Z'],
  ['2026-11-27', 'Asia/Kolkata', '2026-11-26T18:30:00.000Z'],
  ['20261126T100000Z', undefined, '2026-11-26T10:00:00.000Z'],
])('reads the ISO time %j in %s', (text, zone, expected) => {
  expect(at(text, zone)).toBe(expected);
});

test.each([
  ['tomorrow, 10am', undefined, '2026-11-26T10:00:00.000Z'],
  ['Tomorrow 10am', 'Europe/Berlin', '2026-11-26T09:00:00.000Z'],
  ['10am', 'America/New_York', '2026-11-25T15:00:00.000Z'],
  ['10am', undefined, '2026-11-26T10:00:00.000Z'],
  ['at 8:30pm', 'Europe/Berlin', '2026-11-25T19:30:00.000Z'],
  ['monday', undefined, '2026-11-30T12:00:00.000Z'],
  ['friday at 5pm', 'Asia/Tokyo', '2026-11-27T08:00:00.000Z'],
  ['in 2 hours', 'Asia/Tokyo', '2026-11-25T14:00:00.000Z'],
  ['half an hour', 'Asia/Tokyo', '2026-11-25T12:30:00.000Z'],
  ['tomorrow at noon EST', 'Asia/Tokyo', '2026-11-26T17:00:00.000Z'],
  ['december 3rd, 8:15pm', 'Europe/Berlin', '2026-12-03T19:15:00.000Z'],
])('reads English: %j in %s', (text, zone, expected) => {
  expect(at(text, zone)).toBe(expected);
});

describe('around a change of the clock', () => {
  // Berlin sets its clock back on 25 October 2026 at 03:00, and ahead on 29 March 2026 at 02:00.
  const beforeWinter = Date.parse('2026-10-24T10:00:00.000Z');
  const beforeSummer = Date.parse('2026-03-28T10:00:00.000Z');

  test.each([
    ['tomorrow, 10am', beforeWinter, '2026-10-25T09:00:00.000Z'],
    ['2026-10-25T10:00', beforeWinter, '2026-10-25T09:00:00.000Z'],
    ['2 days', beforeWinter, '2026-10-26T10:00:00.000Z'],
    ['in 30 hours', beforeWinter, '2026-10-25T16:00:00.000Z'],
    ['tomorrow, 10am', beforeSummer, '2026-03-29T08:00:00.000Z'],
    ['tomorrow, 2:30am', beforeSummer, '2026-03-29T01:30:00.000Z'],
  ])('%j is local time, and a duration is not', (text, from, expected) => {
    expect(at(text, 'Europe/Berlin', from)).toBe(expected);
  });
});

test.each([undefined, '', '  '])('%j is no delay', (text) => {
  expect(parseDelay(text, 'Nowhere/Else', now)).toBeNull();
});

test.each([
  '9s',
  '31 days',
  '30d 1s',
  '0',
  '10',
  '99999999999',
  'yesterday',
  'two hours ago',
  '2026-11-25T12:00:05Z',
  '2026-12-26T12:00:00Z',
])('%j is not 10 seconds to 30 days ahead', (text) => {
  expect(() => parseDelay(text, undefined, now)).toThrow('delay: must be 10 seconds to 30 days ahead');
});

test.each([
  'soon',
  '30',
  'm',
  '10 parsecs',
  '-5m',
  '2026-13-01T00:00:00Z',
  '2026-02-30T10:00',
  'hello tomorrow',
  '10am every day',
  'monday and tuesday',
  'tomorrow 9am to 10am',
  `tomorrow${' '.repeat(200)}10am`,
  '9'.repeat(101),
])('%j is no time', (text) => {
  expect(() => parseDelay(text, undefined, now)).toThrow(/^delay: must be (a duration|10 seconds)/);
});

test.each(['Berlin', 'Mars/Olympus', 'UTC+25', '../../etc/passwd'])('%j is no time zone', (zone) => {
  expect(() => parseDelay('1h', zone, now)).toThrow('timezone: must be an IANA time zone');
});
