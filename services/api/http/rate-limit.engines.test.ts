import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { AccountCaller, Caller } from '@tocsin/shared/domain/accounts/caller.ts';
import { tierLimits, tiers, type Tier } from '@tocsin/shared/domain/accounts/tiers.ts';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import type { BudgetWindow } from '@tocsin/shared/ports/bus/rate-limiter.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { newId, newTopic, newUser } from '@tocsin/shared/testing/builders.ts';
import { engineUnderTest, openOwnEngine } from '@tocsin/shared/testing/test-engine.ts';
import fc from 'fast-check';
import { Directory } from '../directory/directory.ts';
import { rateLimits, type Budget, type RateLimits } from './rate-limit.ts';

const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;
/** Redis uses its own clock, which a test cannot set. */
const canMoveTime = engineUnderTest === 'embedded';

let own: Closers;
let engine: Engine;
let limits: RateLimits;
/** The API's clock; it starts late in the day, so that hours and minutes cross midnight. */
let now: number;

beforeEach(async () => {
  own = closers();
  now = canMoveTime ? Date.UTC(2026, 10, 21, 22, 40) : Date.now();
  const clock = () => now;
  ({ engine } = await openOwnEngine(own, clock));
  const directory = new Directory({ ...engine, log: openLogger('test', 'silent') });
  own.add(await directory.start());
  limits = rateLimits({ bus: engine.bus, directory, isOn: true });
});
afterEach(() => own.closeAll());

const accountOf = (userId: string, tier: Tier): AccountCaller => ({
  kind: 'account',
  name: 'ann',
  userId,
  tier,
  scopes: null,
  credentialId: newId(),
  expiresAt: null,
});

/** A model of the three windows of one account, each with an end and a count; ended windows are forgotten. */
class Model {
  #windows: Record<'minute' | 'hour' | 'day', { uses: number; endsAt: number } | undefined> = {
    minute: undefined,
    hour: undefined,
    day: undefined,
  };

  look(tier: Tier, at: number) {
    const { publishesPerMinute, publishesPerHour, publishesPerDay } = tierLimits[tier];
    const fresh = { minute: at + minuteMs, hour: at + hourMs, day: (Math.floor(at / dayMs) + 1) * dayMs };
    const all = { minute: publishesPerMinute, hour: publishesPerHour, day: publishesPerDay };
    return (['minute', 'hour', 'day'] as const).map((name) => {
      const window = this.#windows[name];
      if (window !== undefined && window.endsAt <= at) this.#windows[name] = undefined;
      const { uses, endsAt } = this.#windows[name] ?? { uses: 0, endsAt: fresh[name] };
      return { name, uses, endsAt, remaining: Math.max(0, all[name] - uses) };
    });
  }

  take(tier: Tier, at: number): boolean {
    const windows = this.look(tier, at);
    if (windows.some(({ remaining }) => remaining === 0)) return false;
    for (const { name, uses, endsAt } of windows) this.#windows[name] = { uses: uses + 1, endsAt };
    return true;
  }

  refund(taken: Budget, at: number): void {
    this.look('FREE', at);
    (['minute', 'hour', 'day'] as const).forEach((name, index) => {
      const window = this.#windows[name];
      if (
        window !== undefined &&
        window.uses > 0 &&
        window.endsAt <= taken.state.windows[index]!.resetAt + (canMoveTime ? 0 : 1_000)
      )
        window.uses -= 1;
    });
  }
}

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('take' as const), times: fc.integer({ min: 1, max: 12 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('peek' as const), times: fc.constant(1) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('refund' as const), times: fc.integer({ min: 1, max: 3 }) }) },
  ...(canMoveTime
    ? [
        {
          weight: 3,
          arbitrary: fc.record({
            kind: fc.constant('wait' as const),
            times: fc.constantFrom(1, 999, 30_000, 60_000, 61_000, 1_800_000, 3_600_000, 40_000_000),
          }),
        },
      ]
    : []),
);

test('counts publishes like a model of three counters with expiry', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 25 }),
      fc.constantFrom(...tiers),
      async (steps, tier) => {
        const caller = accountOf(newId(), tier);
        const model = new Model();
        const taken: Budget[] = [];
        for (const { kind, times } of steps) {
          if (!canMoveTime) now = Date.now(); // Redis's clock continues
          if (kind === 'wait') now += times;
          for (let count = 0; count < times && kind === 'take'; count += 1) {
            const budget = (await limits.takePublish(caller, now))!;
            expect(budget.state.accepted).toBe(model.take(tier, now));
            if (budget.state.accepted) taken.push(budget);
          }
          for (let count = 0; count < times && kind === 'refund' && taken.length > 0; count += 1) {
            const budget = taken.pop()!;
            await limits.refundPublish(budget, now);
            model.refund(budget, now);
          }
          const shown = (await limits.peekPublish(caller, now))!.state.windows;
          const expected = model.look(tier, now);
          expect(shown.map(({ remaining }) => remaining)).toEqual(expected.map(({ remaining }) => remaining));
          shown.forEach(({ resetAt }, index) =>
            expect(Math.abs(resetAt - expected[index]!.endsAt)).toBeLessThanOrEqual(canMoveTime ? 0 : 5_000),
          );
        }
      },
    ),
    { numRuns: canMoveTime ? 100 : 25 },
  );
});

/** Uses one window, like publishes whose other windows have ended. */
async function useAll(window: BudgetWindow, times: number): Promise<void> {
  await Promise.all(Array.from({ length: times }, () => engine.bus.takeBudget([window], now)));
}

/** The publish limits of each tier per minute, hour and day. */
const allowed: readonly (readonly [Tier, number, number, number])[] = [
  ['FREE', 10, 100, 1_000],
  ['ESSENTIALS', 30, 300, 15_000],
  ['TEAM', 100, 1_000, 50_000],
];

test.each(allowed)(
  'the hour of %s can be used up before the minute: %i, %i and %i',
  async (tier, perMinute, perHour, perDay) => {
    const caller = accountOf(newId(), tier);
    const { windows } = (await limits.peekPublish(caller, now))!;
    expect(windows.map(({ limit }) => limit)).toEqual([perMinute, perHour, perDay]);
    await useAll(windows[1]!, perHour - 1);
    const left = { windows: [{ remaining: perMinute - 1 }, { remaining: 0 }, { remaining: perDay - 1 }] };
    expect((await limits.takePublish(caller, now))!.state).toMatchObject({ accepted: true, ...left });
    expect((await limits.takePublish(caller, now))!.state).toMatchObject({ accepted: false, ...left });
  },
);

test.each(allowed)(
  'the day of %s can be used up before minute and hour, and ends at midnight UTC: %i, %i and %i',
  async (tier, perMinute, perHour, perDay) => {
    const caller = accountOf(newId(), tier);
    const day = (await limits.peekPublish(caller, now))!.windows[2]!;
    expect(day.span).toEqual({ endsAt: (Math.floor(now / dayMs) + 1) * dayMs });
    await useAll(day, perDay - 1);
    expect((await limits.takePublish(caller, now))!.state).toMatchObject({
      accepted: true,
      windows: [{ remaining: perMinute - 1 }, { remaining: perHour - 1 }, { remaining: 0 }],
    });
    expect((await limits.takePublish(caller, now))!.state).toMatchObject({ accepted: false });
  },
);

test('a topic token uses the rate limit of the topic’s owner, and an anonymous caller none', async () => {
  const owner = await engine.documents.insert(users, newUser({ tier: 'ESSENTIALS' }));
  const topic = await engine.documents.insert(topics, newTopic(owner.id));
  const token: Caller = {
    kind: 'topic-token',
    name: 'sensor',
    topicId: topic.id,
    permissions: ['write'],
    credentialId: newId(),
    expiresAt: null,
  };
  await limits.takePublish(token, now);
  await limits.takePublish(accountOf(owner.id, 'ESSENTIALS'), now);
  expect((await limits.peekPublish(token, now))!.state.windows.map(({ remaining }) => remaining)).toEqual([
    28, 298, 14_998,
  ]);
  expect(await limits.takePublish({ kind: 'anonymous', address: '10.0.0.1' }, now)).toBeNull();
  expect((await limits.takeRequest('10.0.0.1', now))!.state).toMatchObject({
    accepted: true,
    windows: [{ remaining: 59 }],
  });
});

test('counts nothing while limits are off', async () => {
  const off = rateLimits({ bus: engine.bus, directory: undefined as never, isOn: false });
  const caller = accountOf(newId(), 'FREE');
  expect([
    await off.takePublish(caller, now),
    await off.peekPublish(caller, now),
    await off.takeRequest('10.0.0.1', now),
  ]).toEqual([null, null, null]);
});
