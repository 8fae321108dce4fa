import { expect, test } from '@jest/globals';
import type { Caller } from '@tocsin/shared/domain/accounts/caller.ts';
import { requestCeiling } from './request-ceiling.ts';

const now = Date.UTC(2026, 0, 1);
const login = (credentialId: string) =>
  ({ kind: 'account', userId: 'ann', name: 'ann', tier: 'FREE', scopes: null, credentialId, expiresAt: null }) as const;
const key = (credentialId: string) =>
  ({
    kind: 'account',
    userId: 'ann',
    name: 'job',
    tier: 'FREE',
    scopes: ['*'],
    credentialId,
    expiresAt: null,
  }) as const;

type Authenticated = Exclude<Caller, { kind: 'anonymous' }>;

/** Returns how many of the requests were admitted. */
function admitted(max: number, requests: readonly (readonly [Authenticated, number])[]): number {
  const count = requestCeiling(max);
  return requests.filter(([caller, at]) => {
    try {
      count(caller, at);
      return true;
    } catch {
      return false;
    }
  }).length;
}

test('limits each API key on its own, and all logins of an account together', () => {
  expect(
    admitted(
      2,
      [key('a'), key('a'), key('a')].map((caller) => [caller, now]),
    ),
  ).toBe(2);
  expect(
    admitted(
      2,
      [key('a'), key('a'), key('b'), key('b')].map((caller) => [caller, now]),
    ),
  ).toBe(4);
  expect(
    admitted(
      2,
      [login('a'), login('b'), login('c')].map((caller) => [caller, now]),
    ),
  ).toBe(2);
});

test('the refusal names the limit and the end of the minute', () => {
  const count = requestCeiling(1);
  count(key('a'), now);
  expect(() => count(key('a'), now + 20_000)).toThrow(
    expect.objectContaining({ code: 'limited', message: 'Rate limit exceeded', limit: 1, resetAt: now + 60_000 }),
  );
  expect(() => count(key('a'), now + 60_000)).not.toThrow();
});
