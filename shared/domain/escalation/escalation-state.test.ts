import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { escalationLimits, type EscalationPolicy } from './escalation-policy.ts';
import {
  advanceEscalation,
  clockStepMs,
  endEscalation,
  nextPageAt,
  nextStep,
  restartEscalation,
  startEscalation,
  type EscalationPage,
  type EscalationState,
} from './escalation-state.ts';
import { ledgerKey } from './ledger-key.ts';

const start = Date.UTC(2026, 2, 28, 12);
const secondMs = 1_000;
const minuteMs = 60_000;
const hourMs = 3_600_000;

const policyOf = (given: Partial<EscalationPolicy> & { readonly afterMinutes?: readonly number[] }) => {
  const { afterMinutes = [], ...rest } = given;
  return {
    minPriority: 5,
    repeatEveryMs: 2 * minuteMs,
    repeatMax: 5,
    steps: afterMinutes.map((after) => ({
      afterMs: after * minuteMs,
      to: { kind: 'topic', topicId: 'another' },
    })),
    autoAckOnResolve: true,
    setBy: null,
    ...rest,
  } as const satisfies EscalationPolicy;
};

/** A notifier that polls one escalation, with a clock that tests set. */
class World {
  policy: EscalationPolicy | null;
  state: EscalationState;
  now: number;
  /** Time that really passed since the start, whatever the clock shows. */
  elapsedMs = 0;
  isDeleted = false;
  readonly unreachable = new Set<number>();
  /** Whether the notifier dies after it enqueued the pages of the next poll, before it stores the state. */
  diesNext = false;
  readonly sent: {
    name: string;
    page: EscalationPage;
    atMs: number;
    everyMs: number;
    afterMs: number | null;
    wasOpen: boolean;
  }[] = [];
  roundStartedMs = 0;

  constructor(policy: EscalationPolicy | null, now = start) {
    this.policy = policy;
    this.now = now;
    this.state = startEscalation(now);
  }

  poll(): void {
    const isDue = (nextPageAt(this.policy, this.state) ?? Infinity) <= this.now;
    if (!isDue && this.state.decidedAt - this.now <= clockStepMs) return;
    const { state, pages } = advanceEscalation(this.policy, this.state, {
      now: this.now,
      isReachable: (step) => !this.unreachable.has(step),
    });
    for (const page of pages) this.#send(page);
    if (!this.diesNext) this.state = state;
    this.diesNext = false;
  }

  /** A queue and a ledger know the page by its name. */
  #send(page: EscalationPage): void {
    const name = ledgerKey('m', page);
    if (this.sent.some((one) => one.name === name)) return;
    const afterMs = page.kind === 'step' ? this.policy!.steps[page.number - 1]!.afterMs : null;
    const everyMs = this.policy!.repeatEveryMs;
    this.sent.push({ name, page, atMs: this.elapsedMs, everyMs, afterMs, wasOpen: this.state.isOpen });
  }

  pass(ms: number, pollEveryMs = secondMs): void {
    for (let left = ms; left > 0; left -= pollEveryMs) {
      this.sleep(Math.min(left, pollEveryMs));
      this.poll();
    }
  }

  /** Time passes without a notifier. */
  sleep(ms: number): void {
    this.now += ms;
    this.elapsedMs += ms;
  }

  acknowledge(): void {
    this.state = endEscalation(this.state, this.now);
  }

  withdraw(): void {
    if (this.state.isOpen || this.isDeleted) return;
    this.state = restartEscalation(this.state, this.now);
    this.roundStartedMs = this.elapsedMs;
  }

  get names(): string[] {
    return this.sent.map(({ page: { kind, number } }) => `${kind} ${number}`);
  }
  timesOf(kind: EscalationPage['kind']): number[] {
    return this.sent.filter(({ page }) => page.kind === kind).map(({ atMs }) => atMs);
  }
}

describe('an escalation', () => {
  test('repeats up to the maximum and takes each step at its time', () => {
    const world = new World(policyOf({ afterMinutes: [5, 15] }));
    world.pass(24 * hourMs, 10 * secondMs);
    expect(world.timesOf('repeat')).toEqual([2, 4, 6, 8, 10].map((minutes) => minutes * minuteMs));
    expect(world.timesOf('step')).toEqual([5 * minuteMs, 15 * minuteMs]);
    expect(nextPageAt(world.policy, world.state)).toBeNull();
  });

  test('sends one repeat after an hour without a notifier, and the next one an interval later', () => {
    const world = new World(policyOf({}));
    world.pass(3 * minuteMs);
    world.sleep(hourMs);
    world.poll();
    world.pass(119 * secondMs);
    expect(world.names).toEqual(['repeat 1', 'repeat 2']);
    world.pass(secondMs);
    expect(world.names).toEqual(['repeat 1', 'repeat 2', 'repeat 3']);
  });

  test('skips a step without a reachable target and takes the next one immediately', () => {
    const world = new World(policyOf({ repeatMax: 0, afterMinutes: [5, 60, 120] }));
    world.unreachable.add(1);
    world.pass(5 * minuteMs);
    expect(world.sent.map(({ page }) => page)).toMatchObject([
      { number: 1, isSkipped: true },
      { number: 2, isSkipped: false },
    ]);
    world.pass(114 * minuteMs);
    expect(world.sent).toHaveLength(2);
    world.pass(minuteMs);
    expect(world.timesOf('step').at(-1)).toBe(120 * minuteMs);
  });

  test.each([
    ['backward', -hourMs],
    ['forward', hourMs],
  ])('continues when the clock jumps %s by an hour', (_, jumpMs) => {
    const world = new World(policyOf({ afterMinutes: [30] }));
    world.pass(3 * minuteMs);
    world.now += jumpMs;
    world.pass(24 * hourMs, 10 * secondMs);
    expect(world.names.toSorted()).toEqual(['repeat 1', 'repeat 2', 'repeat 3', 'repeat 4', 'repeat 5', 'step 1']);
    const repeats = world.timesOf('repeat');
    for (const [index, at] of repeats.entries()) if (index > 1) expect(at - repeats[index - 1]!).toBe(2 * minuteMs);
    // The time since the last decision counts again.
    expect(repeats[1]).toBeLessThanOrEqual(2 * 2 * minuteMs + minuteMs + 10 * secondMs);
  });

  test('sends nothing twice while the clock stands still', () => {
    const world = new World(policyOf({}));
    world.sleep(2 * minuteMs);
    for (let polls = 0; polls < 1_000; polls++) world.poll();
    expect(world.names).toEqual(['repeat 1']);
  });

  test('ignores daylight saving, because its times count from the epoch', () => {
    // In Europe the clocks change at 01:00 UTC on 29 March 2026 and on 25 October 2026.
    for (const change of [Date.UTC(2026, 2, 29, 1), Date.UTC(2026, 9, 25, 1)]) {
      const world = new World(policyOf({ afterMinutes: [30] }), change - 3 * minuteMs);
      world.pass(hourMs);
      expect(world.timesOf('repeat')).toEqual([2, 4, 6, 8, 10].map((minutes) => minutes * minuteMs));
      expect(world.timesOf('step')).toEqual([30 * minuteMs]);
    }
  });

  test('starts again when its acknowledgement is withdrawn', () => {
    const world = new World(policyOf({ repeatMax: 1, afterMinutes: [5] }));
    world.pass(10 * minuteMs);
    world.acknowledge();
    world.pass(hourMs);
    expect(world.names).toEqual(['repeat 1', 'step 1']);
    world.withdraw();
    world.pass(hourMs);
    expect(world.names).toEqual(['repeat 1', 'step 1', 'repeat 1', 'step 1']);
    expect(new Set(world.sent.map(({ name }) => name)).size).toBe(4);
  });
});

type Act = (world: World) => void;

const policies = fc.record({
  repeatEveryMs: fc.integer({ min: escalationLimits.repeatEveryMsMin, max: 10 * minuteMs }),
  repeatMax: fc.integer({ min: 0, max: escalationLimits.repeatMax }),
  afterMinutes: fc
    .uniqueArray(fc.integer({ min: 1, max: 90 }), { maxLength: escalationLimits.steps })
    .map((afters) => afters.toSorted((a, b) => a - b)),
});

const acts: fc.Arbitrary<Act> = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 1_800 }).map((s) => (w: World) => w.pass(s * secondMs, 5_000)) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 7_200 }).map((s) => (w: World) => w.sleep(s * secondMs)) },
  { weight: 2, arbitrary: fc.constant((w: World) => w.acknowledge()) },
  { weight: 2, arbitrary: fc.constant((w: World) => w.withdraw()) },
  { weight: 2, arbitrary: fc.constant((w: World) => void (w.diesNext = true)) },
  { weight: 2, arbitrary: policies.map((policy) => (w: World) => void (w.policy = policyOf(policy))) },
  { weight: 1, arbitrary: fc.constant((w: World) => void (w.policy = null)) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 5 }).map((step) => (w: World) => void w.unreachable.add(step)) },
  { weight: 1, arbitrary: fc.constant((w: World) => w.unreachable.clear()) },
  {
    weight: 1,
    arbitrary: fc.constant((w: World) => {
      w.isDeleted = true;
      w.acknowledge();
    }),
  },
);
const jumps: fc.Arbitrary<Act> = fc
  .integer({ min: -3_600, max: 3_600 })
  .map((seconds) => (w: World) => void (w.now += seconds * secondMs));

/** Runs the acts and calls `check` after each one. */
function run(policy: EscalationPolicy, all: readonly Act[], check: (world: World) => void): World {
  const world = new World(policy);
  for (const act of all) {
    act(world);
    check(world);
  }
  return world;
}

describe('with any sequence of acknowledgements, withdrawals, deletions, policies, losses of access and kills', () => {
  const scenario = { numRuns: 300 } as const;

  test('an acknowledged or deleted message has no page', () => {
    fc.assert(
      fc.property(policies, fc.array(fc.oneof(acts, jumps), { maxLength: 40 }), (policy, all) => {
        const world = run(policyOf(policy), all, () => undefined);
        expect(world.sent.every(({ wasOpen }) => wasOpen)).toBe(true);
      }),
      scenario,
    );
  });

  test('each round repeats at most as often as some policy allows, and each step is taken once and in order', () => {
    fc.assert(
      fc.property(policies, fc.array(fc.oneof(acts, jumps), { maxLength: 40 }), (policy, all) => {
        const world = run(policyOf(policy), all, () => undefined);
        for (const ofRound of Map.groupBy(world.sent, ({ page }) => page.round).values()) {
          for (const kind of ['repeat', 'step'] as const) {
            const numbers = ofRound.filter(({ page }) => page.kind === kind).map(({ page }) => page.number);
            expect(numbers).toEqual(numbers.map((_, index) => index + 1));
            expect(numbers.length).toBeLessThanOrEqual(
              kind === 'repeat' ? escalationLimits.repeatMax : escalationLimits.steps,
            );
          }
        }
      }),
      scenario,
    );
  });

  test('no page is early while the clock runs normally', () => {
    fc.assert(
      fc.property(policies, fc.array(acts, { maxLength: 40 }), (policy, all) => {
        const starts = new Map([[1, 0]]);
        const world = run(policyOf(policy), all, (one) => starts.set(one.state.round, one.roundStartedMs));
        for (const [round, ofRound] of Map.groupBy(world.sent, ({ page }) => page.round)) {
          let lastMs = starts.get(round)!;
          let isAtOnce = false;
          for (const { page, atMs, everyMs, afterMs } of ofRound) {
            if (page.kind === 'repeat') {
              expect(atMs - lastMs).toBeGreaterThanOrEqual(everyMs);
              lastMs = atMs;
            } else {
              if (!isAtOnce) expect(atMs - starts.get(round)!).toBeGreaterThanOrEqual(afterMs!);
              isAtOnce = page.isSkipped;
            }
          }
        }
      }),
      scenario,
    );
  });

  test('no page is missed: a polled escalation is never due for longer than the poll', () => {
    fc.assert(
      fc.property(policies, fc.array(fc.oneof(acts, jumps), { maxLength: 40 }), (policy, all) => {
        run(policyOf(policy), all, (world) => {
          // Two polls: the notifier may die in the first one.
          world.poll();
          world.poll();
          const { state, now } = world;
          const at = nextPageAt(world.policy, state);
          if (at === null) return;
          expect(at).toBeGreaterThan(now);
          expect(at - now).toBeLessThanOrEqual(
            Math.max(world.policy!.repeatEveryMs, world.policy!.steps.at(-1)?.afterMs ?? 0) + clockStepMs,
          );
        });
      }),
      scenario,
    );
  });

  test('after the last act, every remaining repeat and step of an open escalation comes', () => {
    fc.assert(
      fc.property(policies, fc.array(fc.oneof(acts, jumps), { maxLength: 20 }), (policy, all) => {
        const world = run(policyOf(policy), all, () => undefined);
        world.diesNext = false;
        world.pass(12 * hourMs, 15_000);
        if (!world.state.isOpen || world.policy === null) return;
        expect(world.state.repeats).toBeGreaterThanOrEqual(world.policy.repeatMax);
        expect(nextStep(world.policy, world.state)).toBeNull();
      }),
      scenario,
    );
  });
});
