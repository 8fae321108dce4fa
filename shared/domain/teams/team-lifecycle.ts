import type { Team, TeamNotice } from './team.ts';
import { reachesTier, type Tier } from '../accounts/tiers.ts';

const dayMs = 86_400_000;

/** Durations of the lifecycle phases of a team whose owner lost the tier, in milliseconds. */
export interface TeamPeriods {
  /** From the loss of the owner's tier to the deactivation. */
  readonly graceMs: number;
  /** From the deactivation to the removal. */
  readonly removalMs: number;
}

/** The configured values, in days. */
export function teamPeriodsOf(config: {
  readonly TEAM_GRACE_DAYS: number;
  readonly TEAM_REMOVAL_DAYS: number;
}): TeamPeriods {
  return {
    graceMs: Math.round(config.TEAM_GRACE_DAYS * dayMs),
    removalMs: Math.round(config.TEAM_REMOVAL_DAYS * dayMs),
  };
}

/** The notice fields of a team in good standing. */
export const noNotice = { lapsedAt: null, notice: null, noticeAt: null, noticeSentAt: null } as const;

/** The notices before a removal, in order. */
const removalNotices: readonly { readonly notice: TeamNotice; readonly beforeMs: number }[] = [
  { notice: 'removal-30-days', beforeMs: 30 * dayMs },
  { notice: 'removal-7-days', beforeMs: 7 * dayMs },
  { notice: 'removal-1-day', beforeMs: dayMs },
];

/**
 * The minimum time between the last notice and the removal, in case no worker ran when the notice was due. An hour less
 * than a day, so that a slightly late notice does not delay the removal.
 */
const lastNoticeMs = 23 * 3_600_000;

/** Returns the removal time of a deactivated team. */
export function removalTime(
  team: Pick<Team, 'deactivatedAt' | 'updatedAt' | 'notice' | 'noticeAt'>,
  { removalMs }: Pick<TeamPeriods, 'removalMs'>,
): number {
  const due = (team.deactivatedAt ?? team.updatedAt) + removalMs;
  if (team.notice !== 'removal-1-day' || team.noticeAt === null) return due;
  return Math.max(due, team.noticeAt + Math.min(lastNoticeMs, removalMs));
}

/** The next lifecycle step of a team. */
export type TeamStep =
  /** No action until the time passes or the owner's tier changes. */
  | { readonly kind: 'none' }
  /** Enqueue the emails of the notice. */
  | { readonly kind: 'mail' }
  /** The grace period begins and the owner is notified. */
  | { readonly kind: 'lapse' }
  /** The owner regained the tier during the grace period. */
  | { readonly kind: 'recover' }
  | { readonly kind: 'deactivate' }
  | { readonly kind: 'announce'; readonly notice: TeamNotice }
  | { readonly kind: 'remove' };

/** Returns the field changes of a step; empty if the step changes none. */
export function fieldsAfterStep(step: TeamStep, now: number): Partial<Omit<Team, 'id' | 'version'>> {
  switch (step.kind) {
    case 'lapse':
      return { lapsedAt: now, notice: 'lapse', noticeAt: now, noticeSentAt: null };
    case 'recover':
      return noNotice;
    case 'deactivate':
      return fieldsWhenSet({ isActive: false, now });
    case 'announce':
      return { notice: step.notice, noticeAt: now, noticeSentAt: null };
    case 'none':
    case 'mail':
    case 'remove':
      return {};
  }
}

/** Returns the field changes of a deactivation or reactivation. */
export function fieldsWhenSet({
  isActive,
  now,
}: {
  readonly isActive: boolean;
  readonly now: number;
}): Partial<Omit<Team, 'id' | 'version'>> {
  return { isActive, deactivatedAt: isActive ? null : now, updatedAt: now, ...noNotice };
}

/** Whether a new tier ends the team's grace period. A deactivated team becomes active only by `reactivate`. */
export function isInGrace({ isActive, lapsedAt }: Pick<Team, 'isActive' | 'lapsedAt'>): boolean {
  return isActive && lapsedAt !== null;
}

const noStep: TeamStep = { kind: 'none' };

/**
 * Returns the step that is due. An active team whose owner is below TEAM enters a grace period, is deactivated after
 * it, and is removed later, never before the notices were sent. A regained tier ends the grace period only.
 */
export function nextTeamStep(team: Team, ownerTier: Tier, at: TeamPeriods & { readonly now: number }): TeamStep {
  if (team.removal !== null) return noStep;
  const hasTier = reachesTier(ownerTier, 'TEAM');
  if (team.isActive && hasTier) return team.lapsedAt === null ? noStep : { kind: 'recover' };
  if (team.notice !== null && team.noticeSentAt === null) return { kind: 'mail' };
  if (!team.isActive) return nextRemovalStep(team, at);
  if (team.lapsedAt === null) return { kind: 'lapse' };
  return at.now >= team.lapsedAt + at.graceMs ? { kind: 'deactivate' } : noStep;
}

function nextRemovalStep(team: Team, at: TeamPeriods & { readonly now: number }): TeamStep {
  const removalAt = removalTime(team, at);
  // If several notices are due (after an outage or with a short period), the last one replaces the others.
  const due = removalNotices.findLastIndex(({ beforeMs }) => at.now >= removalAt - beforeMs);
  const lastNotice = removalNotices.findIndex(({ notice }) => notice === team.notice);
  if (due > lastNotice) return { kind: 'announce', notice: removalNotices[due]!.notice };
  return at.now >= removalAt ? { kind: 'remove' } : noStep;
}
