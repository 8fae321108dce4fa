import { expect, test } from '@jest/globals';
import { CompositePosition, parseCompositePosition } from './composite-position.ts';
import { nilId } from './resolve-position.ts';

const [one, two, three] = [1, 2, 3].map((digit) => `01a1fdd3-3358-7000-9bff-00000000000${digit}`) as [
  string,
  string,
  string,
];

function position(): CompositePosition {
  return new CompositePosition([
    { topicId: 'a', name: 'alarms', id: one },
    { topicId: 'b', name: 'b', id: nilId },
  ]);
}

test('contains every topic in the order of the stream', () => {
  expect(position().id).toBe(`alarms:${one},b:${nilId}`);
});

test('a message moves only its topic', () => {
  const moved = position();
  moved.move('b', two);
  moved.move('a', three);
  expect(moved.id).toBe(`alarms:${three},b:${two}`);
});

test('a renamed topic continues under its new name', () => {
  const renamed = position();
  renamed.move('b', two);
  renamed.rename('a', 'much-longer-alarms');
  renamed.rename('b', 'b');
  expect(renamed.id).toBe(`much-longer-alarms:${one},b:${two}`);
  renamed.move('a', three);
  expect(renamed.id).toBe(`much-longer-alarms:${three},b:${two}`);
});

test('parses what a stream sends', () => {
  const text = position().id;
  expect(parseCompositePosition(text)).toEqual(
    new Map([
      ['alarms', one],
      ['b', nilId],
    ]),
  );
  expect(parseCompositePosition(`Alarms:${one.toUpperCase()}, b:${nilId}`)).toEqual(
    new Map([
      ['alarms', one],
      ['b', nilId],
    ]),
  );
});

test.each([
  '',
  ',',
  'a',
  one,
  `:${one}`,
  'a:',
  'a:b',
  `a:${one}:b`,
  `a:${one},`,
  `a:${one},A:${two}`,
  `a:${one},b`,
  'a:01a1fdd3-3358-4000-9bff-000000000001',
])('refuses the position %j', (text) => {
  expect(parseCompositePosition(text)).toBeNull();
});
