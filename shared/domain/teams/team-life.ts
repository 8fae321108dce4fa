import type { Team, TeamNotice } from './team.ts';
import { reachesTier, type Tier } from '../accounts/tiers.ts';

const dayMs = 86_400_000;

/** How long the phases of a team without its tier last, in milliseconds. */
export interface TeamPeriods {
  /** From the loss of the owner's tier to the deactivation. */
  readonly graceMs: number;
  /** From the deactivation to the removal. */
  readonly removalMs: number;
}

/** As configured, in days. */
export function teamPeriodsOf(config: {
  readonly TEAM_GRACE_DAYS: number;
  readonly TEAM_REMOVAL_DAYS: number;
}): TeamPeriods {
  return {
    graceMs: Math.round(config.TEAM_GRACE_DAYS * dayMs),
    removalMs: Math.round(config.TEAM_REMOVAL_DAYS * dayMs),
  };
}

/** What a team says of notices when nothing is wrong with it. */
export const noNotice = { lapsedAt: null, notice: null, noticeAt: null, noticeSentAt: null } as const;

/** The notices before a removal, in their order. */
const removalNotices: readonly { readonly notice: TeamNotice; readonly beforeMs: number }[] = [
  { notice: 'removal-30-days', beforeMs: 30 * dayMs },
  { notice: 'removal-7-days', beforeMs: 7 * dayMs },
  { notice: 'removal-1-day', beforeMs: dayMs },
];

/**
 * The least time between the last notice and the removal, for a worker that was away when the notice was due. An hour
 * less than the day, so that a notice that is a little late does not move the removal.
 */
const lastNoticeMs = 23 * 3_600_000;

/** When a deactivated team is removed. */
export function removalTime(
  team: Pick<Team, 'deactivatedAt' | 'updatedAt' | 'notice' | 'noticeAt'>,
  { removalMs }: Pick<TeamPeriods, 'removalMs'>,
): number {
  const due = (team.deactivatedAt ?? team.updatedAt) + removalMs;
  if (team.notice !== 'removal-1-day' || team.noticeAt === null) return due;
  return Math.max(due, team.noticeAt + Math.min(lastNoticeMs, removalMs));
}

/** What is to be done with a team now; one step after the other. */
export type TeamStep =
  /** Nothing, until the time passes or the owner's tier changes. */
  | { readonly kind: 'rest' }
  /** Hand the mails of its notice to the queue. */
  | { readonly kind: 'mail' }
  /** The grace begins: the owner is told. */
  | { readonly kind: 'lapse' }
  /** The owner has the tier again within the grace. */
  | { readonly kind: 'recover' }
  | { readonly kind: 'deactivate' }
  | { readonly kind: 'announce'; readonly notice: TeamNotice }
  | { readonly kind: 'remove' };

/** What a step makes of a team's fields; empty for one that changes nothing by itself. */
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
    case 'rest':
    case 'mail':
    case 'remove':
      return {};
  }
}

/** A team's fields once it is deactivated or reactivated. */
export function fieldsWhenSet({
  isActive,
  now,
}: {
  readonly isActive: boolean;
  readonly now: number;
}): Partial<Omit<Team, 'id' | 'version'>> {
  return { isActive, deactivatedAt: isActive ? null : now, updatedAt: now, ...noNotice };
}

/** Whether a tier that was given ends a grace of the team; a deactivated one comes back by `reactivate` alone. */
export function isInGrace({ isActive, lapsedAt }: Pick<Team, 'isActive' | 'lapsedAt'>): boolean {
  return isActive && lapsedAt !== null;
}

const rest: TeamStep = { kind: 'rest' };

/**
 * The step that is due. An active team whose owner is below TEAM gets its grace, is deactivated after it, and removed a
 * period later, never before the mails that say so; a tier that comes back ends the grace, and nothing that comes after.
 */
export function nextTeamStep(team: Team, ownerTier: Tier, at: TeamPeriods & { readonly now: number }): TeamStep {
  if (team.removal !== null) return rest;
  const hasTier = reachesTier(ownerTier, 'TEAM');
  if (team.isActive && hasTier) return team.lapsedAt === null ? rest : { kind: 'recover' };
  if (team.notice !== null && team.noticeSentAt === null) return { kind: 'mail' };
  if (!team.isActive) return nextRemovalStep(team, at);
  if (team.lapsedAt === null) return { kind: 'lapse' };
  return at.now >= team.lapsedAt + at.graceMs ? { kind: 'deactivate' } : rest;
}

function nextRemovalStep(team: Team, at: TeamPeriods & { readonly now: number }): TeamStep {
  const removalAt = removalTime(team, at);
  // Of several that are due, after a worker was away or with a short period, the last one says it all.
  const due = removalNotices.findLastIndex(({ beforeMs }) => at.now >= removalAt - beforeMs);
  const given = removalNotices.findIndex(({ notice }) => notice === team.notice);
  if (due > given) return { kind: 'announce', notice: removalNotices[due]!.notice };
  return at.now >= removalAt ? { kind: 'remove' } : rest;
}
