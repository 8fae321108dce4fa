import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import { takeMailBudget } from '@tocsin/shared/runtime/request-mail.ts';
import { newId } from '@tocsin/shared/testing/builders.ts';
import { engineUnderTest, openOwnEngine } from '@tocsin/shared/testing/test-engine.ts';
import type { RequestContext } from '../http/route.ts';
import { withinMailLimits } from './mail-limits.ts';

const hourMs = 3_600_000;
/** Redis uses its own clock, which a test cannot set. */
const canMoveTime = engineUnderTest === 'embedded';

let own: Closers;
let engine: Engine;
let now: number;

beforeEach(async () => {
  own = closers();
  now = Date.now();
  ({ engine } = await openOwnEngine(own, () => now));
});
afterEach(() => own.closeAll());

const config = { RATE_LIMITS: true } as never;
const clock = () => now;

/** Returns how many of the client's emails of one kind to the mailbox are sent. */
async function sent(email: string, requester: string, count: number): Promise<number> {
  const deps = { engine, config, clock, log: openLogger('test', 'silent'), makeId: newId };
  let accepted = 0;
  for (let index = 0; index < count; index += 1)
    if (await takeMailBudget(deps, { email, requester }, 'password-reset')) accepted += 1;
  return accepted;
}

test('strangers do not use up the emails of an address, and the mailbox gets at most 100 of a kind', async () => {
  const email = `${newId()}@example.org`;
  let total = await sent(email, 'owner', 1);
  for (let stranger = 0; stranger < 4; stranger += 1) total += await sent(email, `stranger ${stranger}`, 5);
  expect(total).toBe(20);
  // Now a client gets only its first two.
  expect(await sent(email, 'owner', 4)).toBe(1);
  expect(await sent(email, 'another stranger', 5)).toBe(2);
  total += 3;
  for (let stranger = 4; stranger < 60; stranger += 1) total += await sent(email, `stranger ${stranger}`, 5);
  expect(total).toBe(100);
  expect(await sent(`another.${email}`, 'stranger 4', 6)).toBe(5);
});

test('one address causes at most 300 emails per hour', async () => {
  let mails = 0;
  const send = (address: string) => {
    const context = { caller: { kind: 'anonymous' }, address } as unknown as RequestContext;
    return withinMailLimits({ clock, config, engine }, context, () => Promise.resolve((mails += 1)));
  };
  for (let count = 0; count < 300; count += 1) await send('192.0.2.1');
  await expect(send('192.0.2.1')).rejects.toThrow(new AppError('limited', 'Rate limit exceeded'));
  await send('192.0.2.2');
  expect(mails).toBe(301);
  if (!canMoveTime) return;
  now += hourMs;
  await send('192.0.2.1');
});
