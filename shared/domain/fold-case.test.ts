import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { foldCase, isPlain } from './fold-case.ts';

test.each([
  ['DISK', 'disk'],
  ['Straße', 'STRASSE'],
  ['ẞ', 'ss'],
  ['ΣΊΣΥΦΟΣ', 'σίσυφος'],
  ['K', '\u212a'],
  ['ſ', 'S'],
  ['ﬁn', 'FIN'],
  ['İ', 'i\u0307'],
  ['Жук', 'жУК'],
  ['ŉ', 'ʼN'],
  ['ᾳ', 'ΑΙ'],
  ['Ǆ', 'ǅ'],
  ['Ꭰ', 'ꭰ'],
  ['\u{1e900}', '\u{1e922}'],
  ['a\0É', 'A\0é'],
])('folds %j and %j to the same text', (one, other) => {
  expect(foldCase(one)).toBe(foldCase(other));
});

test.each([
  ['ı', 'i'],
  ['ı', 'I'],
  ['é', 'e\u0301'],
  ['e', 'é'],
  ['Å', 'A'],
  ['\0', ''],
  ['\ud83d\ude00', '\ufffd'],
])('folds %j and %j to different texts', (one, other) => {
  expect(foldCase(one)).not.toBe(foldCase(other));
});

test('agrees with simple case folding of Unicode for all letters it maps', () => {
  const mismatches: string[] = [];
  for (let point = 0; point <= 0x10ffff; point += 1) {
    if (point >= 0xd800 && point <= 0xdfff) continue;
    const letter = String.fromCodePoint(point);
    for (const other of [letter.toLowerCase(), letter.toUpperCase()]) {
      if (other === letter || [...other].length > 1) continue;
      const isSame = new RegExp(`^\\u{${point.toString(16)}}$`, 'iu').test(other);
      if (isSame !== (foldCase(letter) === foldCase(other))) mismatches.push(letter);
    }
  }
  expect(mismatches).toEqual([]);
});

const text = fc.string({
  unit: fc.oneof(
    fc.constantFrom('ı', 'i', 'I', 'İ', 'Σ', 'σ', 'ς', 'ß', 'ſ', ' ', '\0', '\u0307', 'A'),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
  ),
});

test('is idempotent and preserves substrings', () => {
  fc.assert(
    fc.property(text, text, (one, other) => {
      expect(foldCase(foldCase(one))).toBe(foldCase(one));
      expect(foldCase(one + other)).toBe(foldCase(one) + foldCase(other));
      expect(foldCase(one).isWellFormed()).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

test('treats ASCII without NUL as plain and folds its letters', () => {
  expect([isPlain(''), isPlain('A\n\x7f~'), isPlain('\0'), isPlain('é'), isPlain('😀')]).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
  expect(foldCase('AZ[`az{')).toBe('az[`az{');
});
