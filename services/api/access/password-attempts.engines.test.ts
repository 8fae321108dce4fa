import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { newId } from '@tocsin/shared/testing/builders.ts';
import { engineUnderTest, openOwnEngine } from '@tocsin/shared/testing/test-engine.ts';
import type { RequestContext } from '../http/route.ts';
import { passwordAttempts, type PasswordAttempts } from './password-attempts.ts';

const [minuteMs, hourMs] = [60_000, 3_600_000];
/** Redis uses its own clock, which a test cannot set. */
const canMoveTime = engineUnderTest === 'embedded';

let own: Closers;
let attempts: PasswordAttempts;
let now: number;

beforeEach(async () => {
  own = closers();
  now = Date.now();
  const clock = () => now;
  const { engine } = await openOwnEngine(own, clock);
  attempts = passwordAttempts({ clock, engine, config: { RATE_LIMITS: true } as never });
});
afterEach(() => own.closeAll());

/** Makes wrong guesses, each from another address. Returns how many were checked. */
async function guess(email: string, count: number, isKnownClient = false): Promise<number> {
  let checked = 0;
  const check = () => Promise.resolve((checked += 1) === 0);
  for (let index = 0; index < count; index += 1) {
    const context = { address: newId() } as RequestContext;
    await attempts(context, { email, isKnownClient, check }).catch((error: unknown) => {
      if (!(error instanceof AppError) || error.code !== 'limited') throw error;
    });
  }
  return checked;
}

test('many addresses guess 10 passwords per minute, 30 per hour and 100 per day', async () => {
  const email = `${newId()}@example.org`;
  expect(await guess(email, 12)).toBe(10);
  expect(await guess(`other.${email}`, 1)).toBe(1);
  if (!canMoveTime) return;
  const perHour: number[] = [];
  let checked = 10;
  for (let minute = 1; minute <= 24 * 60; minute += 1) {
    now += minuteMs;
    // The windows start with the first guess in them.
    if (minute % 60 === 0) perHour.push(checked);
    if (minute % 60 === 0) checked = 0;
    if (minute % 60 <= 5 && minute < 24 * 60) checked += await guess(email, 12);
  }
  expect(perHour).toEqual([30, 30, 30, 10, ...Array<number>(20).fill(0)]);
  expect(await guess(email, 1, true)).toBe(1);
  expect(await guess(email, 12)).toBe(10);
});

test('clients that the account knows are not slowed down by guesses of others', async () => {
  const email = `${newId()}@example.org`;
  await guess(email, 12);
  expect(await guess(email, 12)).toBe(0);
  expect(await guess(email, 12, true)).toBe(12);
  now += hourMs;
  expect(await guess(email, 1, true)).toBe(1);
});
