import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { toIso } from './to-iso.ts';

test('formats a time like Date', () => {
  fc.assert(
    fc.property(fc.date({ noInvalidDate: true }), (date) => expect(toIso(date.getTime())).toBe(date.toISOString())),
    { numRuns: 2_000 },
  );
});

test('formats every day of four centuries', () => {
  for (let time = Date.UTC(1970, 0); time < Date.UTC(2370, 0); time += 86_400_000) {
    const expected = new Date(time).toISOString();
    if (toIso(time) !== expected) expect(toIso(time)).toBe(expected);
  }
});

test.each([
  '1969-12-31T23:59:59.999Z',
  '2000-02-29T00:00:00.000Z',
  '2100-02-28T23:59:59.999Z',
  '9999-12-31T23:59:59.999Z',
  '+010000-01-01T00:00:00.000Z',
])('formats the edge %s', (text) => expect(toIso(Date.parse(text))).toBe(text));

test('throws for an invalid time', () => {
  expect(() => toIso(Number.NaN)).toThrow(RangeError);
});
