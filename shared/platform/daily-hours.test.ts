import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isTimezone, nextTimeOfDay, spanAt, type DailyHours } from './daily-hours.ts';

const berlin = (start: string, end: string): DailyHours => ({ start, end, timezone: 'Europe/Berlin' });
const at = (iso: string): number => Date.parse(iso);
const spanOf = (hours: DailyHours, iso: string): [string, string] | null => {
  const span = spanAt(hours, at(iso));
  return span === null
    ? null
    : [new Date(span.start).toISOString().slice(0, 16), new Date(span.end).toISOString().slice(0, 16)];
};

test.each<[string, DailyHours, string, [string, string] | null]>([
  ['within a day', berlin('12:00', '14:30'), '2026-07-01T11:00Z', ['2026-07-01T10:00', '2026-07-01T12:30']],
  ['before it', berlin('12:00', '14:30'), '2026-07-01T09:59Z', null],
  ['its first moment', berlin('12:00', '14:30'), '2026-07-01T10:00Z', ['2026-07-01T10:00', '2026-07-01T12:30']],
  ['the end is exclusive', berlin('12:00', '14:30'), '2026-07-01T12:30Z', null],
  [
    'past midnight, before midnight',
    berlin('22:00', '07:00'),
    '2026-01-31T22:00Z',
    ['2026-01-31T21:00', '2026-02-01T06:00'],
  ],
  [
    'past midnight, after midnight',
    berlin('22:00', '07:00'),
    '2026-02-01T05:59Z',
    ['2026-01-31T21:00', '2026-02-01T06:00'],
  ],
  ['past midnight, during the day', berlin('22:00', '07:00'), '2026-02-01T12:00Z', null],
  // On 2026-03-29 clocks go from 02:00 to 03:00 (01:00Z), on 2026-10-25 from 03:00 back to 02:00 (01:00Z).
  [
    'over the spring change, an hour shorter',
    berlin('22:00', '07:00'),
    '2026-03-29T03:00Z',
    ['2026-03-28T21:00', '2026-03-29T05:00'],
  ],
  [
    'over the autumn change, an hour longer',
    berlin('22:00', '07:00'),
    '2026-10-25T03:00Z',
    ['2026-10-24T20:00', '2026-10-25T06:00'],
  ],
  ['from a skipped time', berlin('02:30', '07:00'), '2026-03-29T01:00Z', ['2026-03-29T01:00', '2026-03-29T05:00']],
  ['to a skipped time', berlin('22:00', '02:30'), '2026-03-29T00:59Z', ['2026-03-28T21:00', '2026-03-29T01:00']],
  ['from a repeated time', berlin('02:30', '07:00'), '2026-10-25T00:45Z', ['2026-10-25T00:30', '2026-10-25T06:00']],
  ['to a repeated time', berlin('22:00', '02:30'), '2026-10-25T00:45Z', ['2026-10-24T20:00', '2026-10-25T01:30']],
  [
    'with a skipped midnight',
    { start: '00:00', end: '01:30', timezone: 'America/Santiago' },
    '2026-09-06T04:10Z',
    ['2026-09-06T04:00', '2026-09-06T04:30'],
  ],
  [
    'with a change of half an hour',
    { start: '02:10', end: '02:20', timezone: 'Australia/Lord_Howe' },
    '2026-10-03T15:30Z',
    null,
  ],
])('%s', (_name, hours, time, span) => {
  expect(spanOf(hours, time)).toEqual(span);
});

// Zones with unusual clock changes or without any.
const zones = [
  'Europe/Berlin',
  'America/New_York',
  'America/Santiago',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'Pacific/Apia',
  'Africa/Casablanca',
  'UTC',
];
const clock = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
  .map(([hour, minute]) => `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`);
const formats = new Map(
  zones.map((timeZone) => [
    timeZone,
    new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
  ]),
);

test('contains a time if and only if the local clock shows a time within the hours, except between two occurrences of their end', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      clock,
      clock,
      fc.integer({ min: at('2025-01-01T00:00Z'), max: at('2028-01-01T00:00Z') }),
      (timezone, start, end, time) => {
        fc.pre(start !== end);
        const shown = formats.get(timezone)!.format(time);
        const isShown = start < end ? start <= shown && shown < end : start <= shown || shown < end;
        const span = spanAt({ start, end, timezone }, time);
        if (isShown) expect(span).not.toBeNull();
        if (span === null) return;
        expect(span.start <= time && time < span.end).toBe(true);
        // Every time within a span yields the same span, and both ends match the local clock.
        expect(spanAt({ start, end, timezone }, span.start)).toEqual(span);
        expect(spanAt({ start, end, timezone }, span.end - 1)).toEqual(span);
        expect(formats.get(timezone)!.format(span.start) >= start).toBe(true);
        if (!isShown) expect(span.end - time).toBeLessThanOrEqual(3_600_000);
      },
    ),
    { numRuns: 500 },
  );
});

test('accepts only time zone names of the IANA database', () => {
  expect(['Europe/Berlin', 'UTC', 'Etc/GMT+5', 'America/Argentina/Buenos_Aires'].map(isTimezone)).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect(['', 'Mars/Olympus', '+02:00', '../UTC', 'CET '.repeat(20), 'local', 'system'].map(isTimezone)).toEqual([
    false,
    false,
    false,
    false,
    false,
    false,
    false,
  ]);
});

test.each<[string, string, string, string]>([
  ['later on the day', '08:00', '2026-07-01T05:00Z', '2026-07-01T06:00'],
  ['at the time itself, a day later', '08:00', '2026-07-01T06:00Z', '2026-07-02T06:00'],
  ['before the spring change', '08:00', '2026-03-28T08:00Z', '2026-03-29T06:00'],
  ['before the autumn change', '08:00', '2026-10-24T08:00Z', '2026-10-25T07:00'],
  ['a skipped time', '02:30', '2026-03-28T20:00Z', '2026-03-29T01:00'],
  ['the day after a skipped time', '02:30', '2026-03-29T01:00Z', '2026-03-30T00:30'],
  ['the first of a repeated time', '02:30', '2026-10-24T20:00Z', '2026-10-25T00:30'],
  ['not the second of a repeated time', '02:30', '2026-10-25T00:45Z', '2026-10-26T01:30'],
])('the next time of day: %s', (_, timeOfDay, from, expected) => {
  const next = nextTimeOfDay({ timeOfDay, timezone: 'Europe/Berlin' }, at(from));
  expect(new Date(next).toISOString().slice(0, 16)).toBe(expected);
});

test('the next time of day follows within a day and a clock change, and none is between', () => {
  const twoDigits = (most: number) =>
    fc.integer({ min: 0, max: most }).map((number) => String(number).padStart(2, '0'));
  fc.assert(
    fc.property(
      fc.constantFrom('Europe/Berlin', 'America/Santiago', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'Etc/UTC'),
      fc.tuple(twoDigits(23), twoDigits(59)).map((parts) => parts.join(':')),
      fc.integer({ min: at('2026-01-01T00:00Z'), max: at('2028-01-01T00:00Z') }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (timezone, timeOfDay, time, part) => {
        const daily = { timeOfDay, timezone };
        const next = nextTimeOfDay(daily, time);
        expect(next).toBeGreaterThan(time);
        // A day of 25 hours, and a skipped time on the day before.
        expect(next - time).toBeLessThanOrEqual(26 * 3_600_000);
        const between = time + Math.floor((next - 1 - time) * part);
        expect(nextTimeOfDay(daily, between)).toBe(next);
        const shown = new Intl.DateTimeFormat('en-GB', { timeZone: timezone, timeStyle: 'short' }).format(next);
        const isSkipped = shown !== timeOfDay;
        // A skipped time falls to the moment at which the clock passes it.
        if (isSkipped) expect(shown > timeOfDay).toBe(true);
      },
    ),
  );
});
