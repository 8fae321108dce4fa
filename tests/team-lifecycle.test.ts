import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  fieldsAfterStep,
  fieldsWhenSet,
  isInGrace,
  nextTeamStep,
  noNotice,
  type TeamPeriods,
  type TeamStep,
} from '@tocsin/shared/domain/teams/team-lifecycle.ts';
import type { Team, TeamNotice } from '@tocsin/shared/domain/teams/team.ts';
import { reachesTier, tierInForce, tiers, type Tier } from '@tocsin/shared/domain/accounts/tiers.ts';
import { newTeam } from '@tocsin/shared/testing/builders.ts';
import { printMeasurements } from '@tocsin/shared/testing/figures.ts';

// Simulates a team over 120 days of a simulated clock: the owner's tier changes and expires, the owner and the operator
// act at random, and the worker sweeps at varying intervals, has outages, and crashes before or after its emails. A
// reference model with separate bookkeeping checks each step against the documented rules.

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const endMs = 120 * dayMs;
const seeds = 5_000;
const periods: TeamPeriods = { graceMs: 7 * dayMs, removalMs: 60 * dayMs };
const removalNotices: readonly TeamNotice[] = ['removal-30-days', 'removal-7-days', 'removal-1-day'];
const noticeDays = [30, 7, 1];
/** Minimum time between the last notice and the removal. */
const lastWarningMs = 23 * hourMs;

type Act =
  { readonly kind: 'tier'; readonly tier: Tier; readonly forDays: number | null } | { readonly kind: 'reactivate' };
type Sweep = 'whole' | 'crashes before its emails' | 'crashes after its emails';

interface Given {
  readonly acts: readonly (readonly [atHours: number, act: Act])[];
  readonly everyHours: number;
  readonly outage: { readonly fromDays: number; readonly days: number };
  /** Outcomes of successive sweeps, repeated. */
  readonly sweeps: readonly Sweep[];
}

const given: fc.Arbitrary<Given> = fc.record({
  acts: fc
    .array(
      fc.tuple(
        fc.integer({ min: 0, max: 24 * 90 }),
        fc.oneof(
          {
            weight: 4,
            arbitrary: fc.record({
              kind: fc.constant('tier' as const),
              tier: fc.constantFrom(...tiers),
              forDays: fc.option(fc.integer({ min: 1, max: 40 })),
            }),
          },
          { weight: 2, arbitrary: fc.constant({ kind: 'reactivate' as const }) },
        ),
      ),
      { maxLength: 6 },
    )
    .map((acts) => acts.sort(([a], [b]) => a - b)),
  everyHours: fc.constantFrom(6, 8, 24, 50),
  outage: fc.record({ fromDays: fc.integer({ min: 0, max: 110 }), days: fc.constantFrom(0, 0, 3, 20, 60) }),
  sweeps: fc.array(
    fc.constantFrom<Sweep>('whole', 'whole', 'whole', 'crashes before its emails', 'crashes after its emails'),
    { minLength: 1, maxLength: 5 },
  ),
});

/** The state of the simulation and its history. */
interface World {
  team: Team;
  /** The owner's tier as last set. */
  owner: { tier: Tier; tierExpiresAt: number | null };
  /** IDs of the emails in the queue, which ignores duplicate IDs. */
  readonly emailIds: Set<string>;
  readonly emails: { readonly notice: TeamNotice; readonly at: number }[];
  /** Start of the current period below TEAM; null while the owner has the tier. */
  belowSince: number | null;
  removedAt: number | null;
}

/** A hundred times faster than `expect`, for millions of checks. */
function must(holds: boolean, says: string): void {
  if (!holds) throw new Error(says);
}

const figures = {
  sweeps: 0,
  lapses: 0,
  gracesEnded: 0,
  deactivations: 0,
  reactivations: 0,
  refusedReactivations: 0,
  notices: 0,
  removals: 0,
};

/** If the tier expired between two checks, the period below TEAM starts at the expiry. */
function noteTier(world: World, now: number): void {
  if (reachesTier(tierInForce(world.owner, now), 'TEAM')) world.belowSince = null;
  else world.belowSince ??= world.owner.tier === 'TEAM' ? world.owner.tierExpiresAt! : now;
}

function act(world: World, what: Act, now: number): void {
  noteTier(world, now);
  const before = world.team;
  if (what.kind === 'tier') {
    world.owner = { tier: what.tier, tierExpiresAt: what.forDays === null ? null : now + what.forDays * dayMs };
    noteTier(world, now);
    if (world.belowSince === null && isInGrace(before)) {
      world.team = { ...before, ...noNotice };
      figures.gracesEnded += 1;
    }
    // Regaining the tier ends a grace period but does not reactivate a team.
    must(world.team.isActive === before.isActive, 'a tier change reactivated a team');
    must(
      world.belowSince !== null || !before.isActive || world.team.lapsedAt === null,
      'the grace period did not end with the tier',
    );
    return;
  }
  if (world.belowSince !== null) {
    figures.refusedReactivations += 1; // rejected by the API's tier check
    return;
  }
  if (before.isActive) return;
  world.team = { ...before, ...fieldsWhenSet({ isActive: true, now }) };
  figures.reactivations += 1;
  // Reactivation restores the state before the lapse.
  const { updatedAt: _was, ...restored } = world.team;
  const { updatedAt: _is, ...original } = teamOf();
  expect(restored).toEqual(original);
}

/** Checks rules that every step must follow. */
function checkStep(world: World, step: TeamStep, now: number): void {
  const { team, emails, belowSince } = world;
  switch (step.kind) {
    case 'lapse':
      must(team.isActive && team.lapsedAt === null && belowSince !== null, 'a grace period began without a lapse');
      figures.lapses += 1;
      break;
    case 'recover':
      must(team.isActive && belowSince === null, 'a grace period ended without the tier');
      figures.gracesEnded += 1;
      break;
    case 'deactivate':
      // Requires a full grace period below the tier and an email at its start.
      must(
        belowSince !== null && now - Math.max(belowSince, team.lapsedAt!) >= periods.graceMs,
        'deactivated within the grace period',
      );
      must(
        emails.some(({ notice, at }) => notice === 'lapse' && at >= team.lapsedAt!),
        'deactivated without an email',
      );
      figures.deactivations += 1;
      break;
    case 'announce':
      must(!team.isActive, 'announced the removal of an active team');
      must(
        removalNotices.indexOf(step.notice) > removalNotices.indexOf(team.notice!),
        'repeated a notice, or sent it after a later one',
      );
      figures.notices += 1;
      break;
    case 'remove':
      must(!team.isActive && now - team.deactivatedAt! >= periods.removalMs, 'removed before its time');
      must(
        emails.findLast(({ at }) => at >= team.deactivatedAt!)?.notice === 'removal-1-day',
        'removed without the last email',
      );
      must(now - team.noticeAt! >= lastWarningMs, 'removed too soon after the last notice');
      figures.removals += 1;
      break;
    default:
  }
}

/** Checks after an uninterrupted sweep that nothing is overdue. */
function checkNothingOverdue(world: World, now: number): void {
  const { team, belowSince } = world;
  must(team.notice === null || team.noticeSentAt !== null, 'a notice was not emailed');
  if (!team.isActive) {
    const due = noticeDays.filter((days) => now >= team.deactivatedAt! + periods.removalMs - days * dayMs).length;
    must(removalNotices.indexOf(team.notice!) >= due - 1, 'a notice was missed');
    return;
  }
  must((team.lapsedAt === null) === (belowSince === null), 'a lapse or its end was missed');
  must(team.lapsedAt === null || now - team.lapsedAt < periods.graceMs, 'a grace period did not end in time');
}

/** Works like the worker: stores one step, then enqueues the emails of its notice, then marks them as sent. */
function sweep(world: World, how: Sweep, now: number): void {
  figures.sweeps += 1;
  noteTier(world, now);
  const step = nextTeamStep(world.team, tierInForce(world.owner, now), { ...periods, now });
  checkStep(world, step, now);
  if (step.kind === 'remove') {
    world.removedAt = now;
    return;
  }
  if (step.kind !== 'none' && step.kind !== 'mail') world.team = { ...world.team, ...fieldsAfterStep(step, now) };
  const { notice, noticeAt, noticeSentAt } = world.team;
  if (notice !== null && noticeSentAt === null && how !== 'crashes before its emails') {
    const id = `${notice}.${noticeAt}`;
    if (!world.emailIds.has(id)) world.emails.push({ notice, at: now });
    world.emailIds.add(id);
    if (how === 'whole') world.team = { ...world.team, noticeSentAt: now };
  }
  // After a delayed email the next sweep makes the next step.
  if (how === 'whole' && step.kind !== 'mail') checkNothingOverdue(world, now);
}

const original = newTeam('owner', { createdAt: 0, updatedAt: 0 });
const teamOf = (): Team => ({ ...original, version: 1 });

function simulate({ acts, everyHours, outage, sweeps }: Given): World {
  const world: World = {
    team: teamOf(),
    owner: { tier: 'TEAM', tierExpiresAt: null },
    emailIds: new Set(),
    emails: [],
    belowSince: null,
    removedAt: null,
  };
  let next = 0;
  for (let now = 0, count = 0; now < endMs && world.removedAt === null; now += everyHours * hourMs) {
    for (; next < acts.length && acts[next]![0] * hourMs <= now; next += 1)
      act(world, acts[next]![1], acts[next]![0] * hourMs);
    if (now >= outage.fromDays * dayMs && now < (outage.fromDays + outage.days) * dayMs) continue;
    sweep(world, sweeps[count++ % sweeps.length]!, now);
  }
  return world;
}

test('follows the rules and sends all notices over 120 days of upgrades, lapses and reactivations', () => {
  const beganAt = performance.now();
  fc.assert(
    fc.property(given, (one) => void simulate(one)),
    { numRuns: seeds },
  );
  printMeasurements('team life cycle', {
    row: 'T5',
    seeds,
    simulatedDays: 120,
    ...figures,
    illegalTransitions: 0,
    missedNotices: 0,
    ms: performance.now() - beganAt,
  });
  // Verifies that the random runs reach every kind of event.
  for (const count of Object.values(figures)) expect(count).toBeGreaterThan(25);
});

test('sends every notice once, in order and on its day if the owner does not return', () => {
  const { emails, removedAt } = simulate({
    acts: [[0, { kind: 'tier', tier: 'FREE', forDays: null }]],
    everyHours: 1,
    outage: { fromDays: 0, days: 0 },
    sweeps: ['whole'],
  });
  expect(emails.map(({ notice, at }) => [notice, at / dayMs])).toEqual([
    ['lapse', 0],
    ['removal-30-days', 37],
    ['removal-7-days', 60],
    ['removal-1-day', 66],
  ]);
  expect(removedAt).toBe(67 * dayMs);
});
