import { expect, test } from '@jest/globals';
import { newTeam } from '../../testing/builders.ts';
import { nextTeamStep, removalTime, type TeamPeriods } from './team-lifecycle.ts';
import type { Team, TeamNotice } from './team.ts';
import type { Tier } from '../accounts/tiers.ts';

const dayMs = 86_400_000;
const periods: TeamPeriods = { graceMs: 7 * dayMs, removalMs: 60 * dayMs };
const teamWith = (given: Partial<Team> = {}): Team => ({ ...newTeam('owner', given), version: 1 });
const stepOf = (team: Team, tier: Tier, now: number, of = periods) => nextTeamStep(team, tier, { ...of, now });

test.each<[string, Team, Tier, string]>([
  ['does nothing for an active team whose owner has the tier', teamWith(), 'TEAM', 'none'],
  ['begins the grace period when the owner is below the tier', teamWith(), 'ESSENTIALS', 'lapse'],
  [
    'enqueues the notice to the owner before the deactivation',
    teamWith({ lapsedAt: 0, notice: 'lapse', noticeAt: 0 }),
    'FREE',
    'mail',
  ],
  [
    'does nothing during the grace period',
    teamWith({ lapsedAt: dayMs, notice: 'lapse', noticeAt: dayMs, noticeSentAt: dayMs }),
    'FREE',
    'none',
  ],
  [
    'deactivates the team at the end of the grace period',
    teamWith({ lapsedAt: 0, notice: 'lapse', noticeAt: 0, noticeSentAt: 0 }),
    'FREE',
    'deactivate',
  ],
  [
    'ends the grace period when the owner regains the tier',
    teamWith({ lapsedAt: 0, notice: 'lapse', noticeAt: 0, noticeSentAt: 0 }),
    'TEAM',
    'recover',
  ],
  [
    'ends the grace period even before the notice is enqueued',
    teamWith({ lapsedAt: 0, notice: 'lapse', noticeAt: 0 }),
    'TEAM',
    'recover',
  ],
  [
    'keeps a deactivated team deactivated when the owner regains the tier',
    teamWith({ isActive: false, deactivatedAt: 7 * dayMs }),
    'TEAM',
    'none',
  ],
  [
    'does nothing for a team whose removal has begun',
    teamWith({ isActive: false, deactivatedAt: -100 * dayMs, removal: 'erase' }),
    'FREE',
    'none',
  ],
])('after a week: %s', (_name, team, tier, kind) => {
  expect(stepOf(team, tier, 7 * dayMs).kind).toBe(kind);
});

test('announces a removal once each 30, 7 and 1 days before', () => {
  let team = teamWith({ isActive: false, deactivatedAt: 0 });
  const announced: [number, TeamNotice][] = [];
  let removedAt = 0;
  for (let hour = 0; removedAt === 0 && hour < 24 * 100; hour += 1) {
    const now = hour * 3_600_000;
    const step = stepOf(team, 'FREE', now);
    if (step.kind === 'announce') {
      announced.push([hour / 24, step.notice]);
      team = { ...team, notice: step.notice, noticeAt: now, noticeSentAt: now };
    } else if (step.kind === 'remove') {
      removedAt = now;
    }
  }
  expect(announced).toEqual([
    [30, 'removal-30-days'],
    [53, 'removal-7-days'],
    [59, 'removal-1-day'],
  ]);
  expect(removedAt).toBe(60 * dayMs);
});

test('removes a neglected team 23 hours after the last notice, not before', () => {
  const late = 100 * dayMs;
  const team = teamWith({ isActive: false, deactivatedAt: 0 });
  expect(stepOf(team, 'FREE', late)).toEqual({ kind: 'announce', notice: 'removal-1-day' });
  const notified: Team = { ...team, notice: 'removal-1-day', noticeAt: late, noticeSentAt: late };
  expect(removalTime(notified, periods)).toBe(late + 23 * 3_600_000);
  expect(stepOf(notified, 'FREE', late + 23 * 3_600_000 - 1).kind).toBe('none');
  expect(stepOf(notified, 'FREE', late + 23 * 3_600_000).kind).toBe('remove');
});
