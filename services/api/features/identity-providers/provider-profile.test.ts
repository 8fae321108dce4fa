import { expect, test } from '@jest/globals';
import { isIssuedTo } from './is-issued-to.ts';
import { claimsOf, toProfile } from './provider-profile.ts';

test('the email and its verification are from one source', () => {
  const idToken = { sub: 's', email_verified: true, picture: 'https://pictures.example/a.png' };
  const claims = claimsOf(idToken, { sub: 's', email: 'a@example.org' });
  expect(toProfile('google', 's', claims)).toEqual({
    provider: 'google',
    subject: 's',
    verifiedEmail: null,
    avatarUrl: 'https://pictures.example/a.png',
  });
  const verified = claimsOf(idToken, { sub: 's', email: 'A@example.org', email_verified: true });
  expect(toProfile('google', 's', verified).verifiedEmail).toBe('a@example.org');
});

test.each([
  [{ aud: 'us' }, true],
  [{ aud: ['us'] }, true],
  [{ aud: 'us', azp: 'us' }, true],
  [{ aud: 'us', azp: 'other' }, false],
  [{ aud: ['us', 'other'] }, false],
  [{ aud: ['us', 'other'], azp: 'us' }, true],
  [{ aud: ['us', 'other'], azp: 'other' }, false],
])('whether a token with %j was issued to "us": %s', (claims, expected) => {
  expect(isIssuedTo(claims, 'us')).toBe(expected);
});
