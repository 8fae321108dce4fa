import { describe, expect, test } from '@jest/globals';
import { isEmailAddress, isUsername, passwordFault } from './account-rules.ts';

describe('isEmailAddress', () => {
  test.each([
    'a@example.org',
    'first.last+tag@sub.example.org',
    "o'brien@example.org",
    '!#$%&*/=?^_`{|}~-@example.org',
    'a@xn--bcher-kva.example',
    `${'a'.repeat(64)}@example.org`,
    `a@${'b'.repeat(63)}.org`,
  ])('accepts %s', (text) => expect(isEmailAddress(text)).toBe(true));

  test.each([
    '',
    '@',
    'a',
    'a@',
    '@example.org',
    'a@localhost',
    'a@example.123',
    'a@@example.org',
    '.a@example.org',
    'a.@example.org',
    'a..b@example.org',
    'a@example..org',
    'a@-example.org',
    'a@example-.org',
    'a@example.org.',
    'a b@example.org',
    ' a@example.org',
    'a@example.org\n',
    '"a b"@example.org',
    'a@[127.0.0.1]',
    'ä@example.org',
    'a@ä.org',
    'a@example.org, b@example.org',
    'a@example.org\r\nBcc: b@example.org',
    `${'a'.repeat(65)}@example.org`,
    `a@${'b'.repeat(64)}.org`,
    `a@${'b.'.repeat(130)}org`,
  ])('rejects %j', (text) => expect(isEmailAddress(text)).toBe(false));

  test('checks a hostile text in less than a second', () => {
    const startedAt = performance.now();
    expect(isEmailAddress(`${'a.'.repeat(30_000)}@`)).toBe(false);
    expect(isEmailAddress(`a@${'a-'.repeat(30_000)}`)).toBe(false);
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });
});

describe('isUsername', () => {
  test.each(['abc', 'A_b.c-9', 'a'.repeat(32)])('accepts %s', (text) => expect(isUsername(text)).toBe(true));
  test.each(['', 'ab', 'a'.repeat(33), 'a b c', 'añb', 'a/b', 'abc\n', 'a@b'])('rejects %j', (text) =>
    expect(isUsername(text)).toBe(false),
  );
});

describe('passwordFault', () => {
  test.each(['12345678', '🔔'.repeat(8), '🔔'.repeat(18), 'x'.repeat(72)])('accepts %s', (text) =>
    expect(passwordFault(text)).toBeNull(),
  );
  test('counts characters in code points and bytes in UTF-8', () => {
    expect(passwordFault('🔔'.repeat(7))).toBe('must have at least 8 characters');
    expect(passwordFault('x'.repeat(73))).toBe('must have at most 72 bytes in UTF-8');
    expect(passwordFault('é'.repeat(37))).toBe('must have at most 72 bytes in UTF-8');
    expect(passwordFault(`1234567\ud800`)).toBe('must be valid Unicode');
  });
});
