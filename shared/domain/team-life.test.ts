import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { newTeam } from '../testing/builders.ts';
import { nextTeamStep, noNotice, removalTime, type TeamPeriods } from './team-life.ts';
import type { Team, TeamNotice } from './team.ts';
import type { Tier } from './tiers.ts';

const dayMs = 86_400_000;
const periods: TeamPeriods = { graceMs: 7 * dayMs, removalMs: 60 * dayMs };
const teamWith = (given: Partial<Team> = {}): Team => ({ ...newTeam('owner', given), version: 1 });
const stepOf = (team: Team, tier: Tier, now: number, of = periods) => nextTeamStep(team, tier, { ...of, now });

test.each<[string, Team, Tier, string]>([
  ['an active team with its tier rests', teamWith(), 'TEAM', 'rest'],
  ['below the tier its grace begins', teamWith(), 'ESSENTIALS', 'lapse'],
  ['its owner is told before anything else', teamWith({ lapsedAt: 0, notice: 'lapse', noticeAt: 0 }), 'FREE', 'mail'],
  ['in the grace it rests', teamWith({ lapsedAt: dayMs, notice: 'lapse', noticeAt: dayMs, noticeSentAt: dayMs }), 'FREE', 'rest'],
  ['at the end of the grace it is deactivated', teamWith({ lapsedAt: 0, notice: 'lapse', noticeAt: 0, noticeSentAt: 0 }), 'FREE', 'deactivate'],
  ['the tier ends the grace', teamWith({ lapsedAt: 0, notice: 'lapse', noticeAt: 0, noticeSentAt: 0 }), 'TEAM', 'recover'],
  ['even before the mail has gone', teamWith({ lapsedAt: 0, notice: 'lapse', noticeAt: 0 }), 'TEAM', 'recover'],
  ['deactivated, it does not come back by the tier alone', teamWith({ isActive: false, deactivatedAt: 7 * dayMs }), 'TEAM', 'rest'],
  ['what is being removed is left to the removal', teamWith({ isActive: false, deactivatedAt: -100 * dayMs, removal: 'erase' }), 'FREE', 'rest'],
])('after a week: %s', (_name, team, tier, kind) => {
  expect(stepOf(team, tier, 7 * dayMs).kind).toBe(kind);
});

test('a removal is announced 30, 7 and 1 days before, each once', () => {
  let team = teamWith({ isActive: false, deactivatedAt: 0 });
  const told: [number, TeamNotice][] = [];
  let removedAt = 0;
  for (let hour = 0; removedAt === 0 && hour < 24 * 100; hour += 1) {
    const now = hour * 3_600_000;
    const step = stepOf(team, 'FREE', now);
    if (step.kind === 'announce') {
      told.push([hour / 24, step.notice]);
      team = { ...team, notice: step.notice, noticeAt: now, noticeSentAt: now };
    } else if (step.kind === 'remove') {
      removedAt = now;
    }
  }
  expect(told).toEqual([[30, 'removal-30-days'], [53, 'removal-7-days'], [59, 'removal-1-day']]);
  expect(removedAt).toBe(60 * dayMs);
});

test('a team that nobody looked after is removed 23 hours after a notice, not before', () => {
  const late = 100 * dayMs;
  const team = teamWith({ isActive: false, deactivatedAt: 0 });
  expect(stepOf(team, 'FREE', late)).toEqual({ kind: 'announce', notice: 'removal-1-day' });
  const told: Team = { ...team, notice: 'removal-1-day', noticeAt: late, noticeSentAt: late };
  expect(removalTime(told, periods)).toBe(late + 23 * 3_600_000);
  expect(stepOf(told, 'FREE', late + 23 * 3_600_000 - 1).kind).toBe('rest');
  expect(stepOf(told, 'FREE', late + 23 * 3_600_000).kind).toBe('remove');
});

// What happens to a team over half a year, with a worker that comes now and then and is cut off before its mails.
type Event = { readonly hours: number; readonly what: 'sweep' | 'sweep without mails' | 'TEAM' | 'FREE' | 'reactivate' };
const events = fc.array(fc.record({
  hours: fc.integer({ min: 0, max: 120 }),
  what: fc.constantFrom('sweep', 'sweep', 'sweep', 'sweep', 'sweep without mails', 'TEAM', 'FREE', 'reactivate'),
}) as fc.Arbitrary<Event>, { minLength: 40, maxLength: 80 });

interface Course {
  team: Team;
  tier: Tier;
  now: number;
  mails: { notice: TeamNotice; at: number }[];
  belowSince: number | null;
  removedAt: number | null;
}

function sweep(course: Course, { withMails }: { withMails: boolean }): void {
  const { team, now } = course;
  const step = stepOf(team, course.tier, now);
  const set = (changes: Partial<Team>): void => void (course.team = { ...team, ...changes });
  if (step.kind === 'lapse') set({ lapsedAt: now, notice: 'lapse', noticeAt: now, noticeSentAt: null });
  if (step.kind === 'recover') set(noNotice);
  if (step.kind === 'announce') set({ notice: step.notice, noticeAt: now, noticeSentAt: null });
  if (step.kind === 'deactivate') {
    expect(course.belowSince).not.toBeNull();
    expect(now - course.belowSince!).toBeGreaterThanOrEqual(periods.graceMs);
    expect(course.mails.some(({ notice, at }) => notice === 'lapse' && at >= course.belowSince! && now - at >= 0)).toBe(true);
    set({ isActive: false, deactivatedAt: now, ...noNotice });
  }
  if (step.kind === 'remove') {
    expect(team.isActive).toBe(false);
    expect(now - team.deactivatedAt!).toBeGreaterThanOrEqual(periods.removalMs);
    const lastMail = course.mails.findLast(({ at }) => at >= team.deactivatedAt!);
    expect(lastMail?.notice).toBe('removal-1-day');
    course.removedAt = now;
  }
  const became = course.team;
  if (withMails && became.notice !== null && became.noticeSentAt === null) {
    course.mails.push({ notice: became.notice, at: now });
    course.team = { ...became, noticeSentAt: now };
  }
}

test('whatever happens, nothing is deactivated within its grace or unannounced, and nothing removed early or unannounced', () => {
  let removed = 0;
  fc.assert(fc.property(events, (given) => {
    const course: Course = { team: teamWith(), tier: 'TEAM', now: 0, mails: [], belowSince: null, removedAt: null };
    for (const { hours, what } of given) {
      if (course.removedAt !== null) break;
      course.now += hours * 3_600_000;
      if (what === 'TEAM' || what === 'FREE') {
        course.tier = what;
        course.belowSince = what === 'TEAM' ? null : course.belowSince ?? course.now;
        if (what === 'TEAM' && course.team.isActive) course.team = { ...course.team, ...noNotice };
      } else if (what === 'reactivate') {
        if (course.tier === 'TEAM') course.team = { ...course.team, isActive: true, deactivatedAt: null, ...noNotice };
      } else {
        sweep(course, { withMails: what === 'sweep' });
      }
    }
    if (course.removedAt !== null) removed += 1;
  }), { numRuns: 5_000 });
  expect(removed).toBeGreaterThan(50); // else the courses do not reach what they are about
});
