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
import { printFigures } from '@tocsin/shared/testing/figures.ts';

// The life of a team over 120 days of a clock that the test owns: the owner's tier comes, goes and ends by itself, the owner and
// the operator act at random, and the worker comes by more or less often, is away for days, and dies before or after its mails.
// What it does is held against the rules of the product as they are written down, by a reference that keeps books of its own.

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const endMs = 120 * dayMs;
const seeds = 5_000;
const periods: TeamPeriods = { graceMs: 7 * dayMs, removalMs: 60 * dayMs };
const removalNotices: readonly TeamNotice[] = ['removal-30-days', 'removal-7-days', 'removal-1-day'];
const noticeDays = [30, 7, 1];
/** The least that lies between the last notice and the removal. */
const lastWarningMs = 23 * hourMs;

type Act =
  { readonly kind: 'tier'; readonly tier: Tier; readonly forDays: number | null } | { readonly kind: 'reactivate' };
type Sweep = 'whole' | 'dies before its mails' | 'dies behind its mails';

interface Given {
  readonly acts: readonly (readonly [atHours: number, act: Act])[];
  readonly everyHours: number;
  readonly away: { readonly fromDays: number; readonly days: number };
  /** How the worker fares, over and over. */
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
  away: fc.record({ fromDays: fc.integer({ min: 0, max: 110 }), days: fc.constantFrom(0, 0, 3, 20, 60) }),
  sweeps: fc.array(
    fc.constantFrom<Sweep>('whole', 'whole', 'whole', 'dies before its mails', 'dies behind its mails'),
    { minLength: 1, maxLength: 5 },
  ),
});

/** What the world sees, and what it has seen. */
interface World {
  team: Team;
  /** The owner's, as it was set. */
  owner: { tier: Tier; tierExpiresAt: number | null };
  /** Mails as the queue has them: one with a known id is none. */
  readonly mailIds: Set<string>;
  readonly mails: { readonly notice: TeamNotice; readonly at: number }[];
  /** Since when the owner has been below TEAM without a moment between; null while at it. */
  belowSince: number | null;
  removedAt: number | null;
}

/** A hundred times cheaper than `expect`, and millions of steps are judged. */
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

/** The tier can end between two looks at it: then that is when it was lost. */
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
    // A tier that comes ends a grace, and brings nothing back that was deactivated.
    must(world.team.isActive === before.isActive, 'a tier alone brought a team back');
    must(
      world.belowSince !== null || !before.isActive || world.team.lapsedAt === null,
      'a tier that came left the grace',
    );
    return;
  }
  if (world.belowSince !== null) {
    figures.refusedReactivations += 1; // the interface's tier check
    return;
  }
  if (before.isActive) return;
  world.team = { ...before, ...fieldsWhenSet({ isActive: true, now }) };
  figures.reactivations += 1;
  // Everything is as it was before the lapse.
  const { updatedAt: _was, ...restored } = world.team;
  const { updatedAt: _is, ...original } = teamOf();
  expect(restored).toEqual(original);
}

/** What no step may do, whatever was before. */
function checkStep(world: World, step: TeamStep, now: number): void {
  const { team, mails, belowSince } = world;
  switch (step.kind) {
    case 'lapse':
      must(team.isActive && team.lapsedAt === null && belowSince !== null, 'a grace began without a lapse');
      figures.lapses += 1;
      break;
    case 'recover':
      must(team.isActive && belowSince === null, 'a grace ended without a tier');
      figures.gracesEnded += 1;
      break;
    case 'deactivate':
      // A whole grace below the tier, and the owner had the mail at its start.
      must(
        belowSince !== null && now - Math.max(belowSince, team.lapsedAt!) >= periods.graceMs,
        'deactivated within the grace',
      );
      must(
        mails.some(({ notice, at }) => notice === 'lapse' && at >= team.lapsedAt!),
        'deactivated without a mail',
      );
      figures.deactivations += 1;
      break;
    case 'announce':
      must(!team.isActive, 'the removal of an active team was announced');
      must(
        removalNotices.indexOf(step.notice) > removalNotices.indexOf(team.notice!),
        'a notice came twice, or behind a later one',
      );
      figures.notices += 1;
      break;
    case 'remove':
      must(!team.isActive && now - team.deactivatedAt! >= periods.removalMs, 'removed before its time');
      must(
        mails.findLast(({ at }) => at >= team.deactivatedAt!)?.notice === 'removal-1-day',
        'removed without the last mail',
      );
      must(now - team.noticeAt! >= lastWarningMs, 'removed too soon behind the last notice');
      figures.removals += 1;
      break;
    default:
  }
}

/** What has to have happened once a worker came by that was not cut off: nothing is overdue. */
function checkNothingOverdue(world: World, now: number): void {
  const { team, belowSince } = world;
  must(team.notice === null || team.noticeSentAt !== null, 'a notice was not mailed');
  if (!team.isActive) {
    const due = noticeDays.filter((days) => now >= team.deactivatedAt! + periods.removalMs - days * dayMs).length;
    must(removalNotices.indexOf(team.notice!) >= due - 1, 'a notice was missed');
    return;
  }
  must((team.lapsedAt === null) === (belowSince === null), 'a lapse or its end was missed');
  must(team.lapsedAt === null || now - team.lapsedAt < periods.graceMs, 'a grace that is over goes on');
}

/** As the worker does it: one step, stored; then the mails of its notice; then that they are sent. */
function sweep(world: World, how: Sweep, now: number): void {
  figures.sweeps += 1;
  noteTier(world, now);
  const step = nextTeamStep(world.team, tierInForce(world.owner, now), { ...periods, now });
  checkStep(world, step, now);
  if (step.kind === 'remove') {
    world.removedAt = now;
    return;
  }
  if (step.kind !== 'rest' && step.kind !== 'mail') world.team = { ...world.team, ...fieldsAfterStep(step, now) };
  const { notice, noticeAt, noticeSentAt } = world.team;
  if (notice !== null && noticeSentAt === null && how !== 'dies before its mails') {
    const id = `${notice}.${noticeAt}`;
    if (!world.mailIds.has(id)) world.mails.push({ notice, at: now });
    world.mailIds.add(id);
    if (how === 'whole') world.team = { ...world.team, noticeSentAt: now };
  }
  // Behind a mail that was made up for, the next step is the next sweep's.
  if (how === 'whole' && step.kind !== 'mail') checkNothingOverdue(world, now);
}

const original = newTeam('owner', { createdAt: 0, updatedAt: 0 });
const teamOf = (): Team => ({ ...original, version: 1 });

function live({ acts, everyHours, away, sweeps }: Given): World {
  const world: World = {
    team: teamOf(),
    owner: { tier: 'TEAM', tierExpiresAt: null },
    mailIds: new Set(),
    mails: [],
    belowSince: null,
    removedAt: null,
  };
  let next = 0;
  for (let now = 0, count = 0; now < endMs && world.removedAt === null; now += everyHours * hourMs) {
    for (; next < acts.length && acts[next]![0] * hourMs <= now; next += 1)
      act(world, acts[next]![1], acts[next]![0] * hourMs);
    if (now >= away.fromDays * dayMs && now < (away.fromDays + away.days) * dayMs) continue;
    sweep(world, sweeps[count++ % sweeps.length]!, now);
  }
  return world;
}

test('over 120 days of upgrades, lapses and reactivations a team goes from lapse to removal by the rules alone, and with all its notices', () => {
  const beganAt = performance.now();
  fc.assert(
    fc.property(given, (one) => void live(one)),
    { numRuns: seeds },
  );
  printFigures('team life cycle', {
    row: 'T5',
    seeds,
    simulatedDays: 120,
    ...figures,
    illegalTransitions: 0,
    missedNotices: 0,
    ms: performance.now() - beganAt,
  });
  // Else the courses do not reach what they are about.
  for (const count of Object.values(figures)) expect(count).toBeGreaterThan(25);
});

test('a team whose owner never comes back gets every notice once, in order and on its day', () => {
  const { mails, removedAt } = live({
    acts: [[0, { kind: 'tier', tier: 'FREE', forDays: null }]],
    everyHours: 1,
    away: { fromDays: 0, days: 0 },
    sweeps: ['whole'],
  });
  expect(mails.map(({ notice, at }) => [notice, at / dayMs])).toEqual([
    ['lapse', 0],
    ['removal-30-days', 37],
    ['removal-7-days', 60],
    ['removal-1-day', 66],
  ]);
  expect(removedAt).toBe(67 * dayMs);
});
