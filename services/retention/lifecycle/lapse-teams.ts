import { isUnavailable } from '@tocsin/shared/domain/errors.ts';
import { fieldsAfterStep, nextTeamStep } from '@tocsin/shared/domain/teams/team-lifecycle.ts';
import type { Team } from '@tocsin/shared/domain/teams/team.ts';
import { tierInForce } from '@tocsin/shared/domain/accounts/tiers.ts';
import type { User } from '@tocsin/shared/domain/accounts/user.ts';
import { StaleVersion, write, type Changes } from '@tocsin/shared/ports/documents.ts';
import { removeUnchangedTeam } from '@tocsin/shared/operations/teams/remove-team.ts';
import { teams } from '@tocsin/shared/collections/teams.ts';
import { updateWith } from '@tocsin/shared/documents/update-with.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { mailTeamNotices } from './mail-team-notices.ts';
import { removalDeps } from './removal-deps.ts';
import { isOver, type RetentionDeps, type SweepLimit, type SweepReport } from '../sweep/retention-deps.ts';
import { notifyNodes } from './notify-nodes.ts';
import { paginateTeams } from './paginate-teams.ts';

/**
 * Advances every team whose owner is below the TEAM tier by one step: an email and a grace period, the deactivation,
 * three more emails, the removal. Stores a step before its emails are enqueued, and their enqueueing afterwards, so
 * that an interrupted run neither duplicates nor skips emails.
 */
export async function lapseTeams(deps: RetentionDeps, limit: SweepLimit): Promise<SweepReport> {
  let removed = 0;
  // Deactivated ones first, so that no team passes two phases in one run.
  for (const isActive of [false, true]) {
    for await (const page of paginateTeams(deps.engine.documents, isActive)) {
      if (isOver(deps, limit)) return { removed, hasMore: true };
      const owners = await deps.engine.documents.getMany(users, [...new Set(page.map(({ ownerId }) => ownerId))]);
      const ownerOf = new Map(owners.map((owner) => [owner.id, owner]));
      const announced: Team[] = [];
      for (const team of page) {
        const owner = ownerOf.get(team.ownerId);
        // A team without an owner is being erased with the owner's account.
        const became = owner === undefined ? team : await takeStep(deps, team, owner);
        if (became === null) removed += 1;
        else if (became.notice !== null && became.noticeSentAt === null) announced.push(became);
      }
      await mailTeamNotices(deps, announced);
    }
  }
  return { removed, hasMore: false };
}

/** Resolves with the updated team, or null if it was removed. A concurrently changed team waits for the next run. */
async function takeStep(deps: RetentionDeps, team: Team, owner: User): Promise<Team | null> {
  try {
    return await tryStep(deps, team, owner);
  } catch (error) {
    if (isUnavailable(error)) throw error;
    if (!(error instanceof StaleVersion))
      deps.log.error({ err: error, teamId: team.id }, 'advancing a lapsed team failed');
    return team;
  }
}

async function tryStep(deps: RetentionDeps, team: Team, owner: User): Promise<Team | null> {
  const now = deps.clock();
  const say = (message: string) => deps.log.info({ teamId: team.id, ownerId: team.ownerId }, message);
  const step = nextTeamStep(team, tierInForce(owner, now), { ...deps.teamPeriods, now });
  const fields = fieldsAfterStep(step, now);
  switch (step.kind) {
    case 'none':
    case 'mail':
      return team;
    case 'lapse':
      say('grace period of a team begins, because its owner is below the TEAM tier');
      return set(deps, { team, owner }, fields, 'team.lapsed');
    case 'recover':
      return set(deps, { team, owner }, fields);
    case 'deactivate': {
      const became = await set(deps, { team, owner }, fields, 'team.deactivated');
      say('team deactivated after its grace period');
      await notifyNodes(deps, [{ kind: 'team', teamId: team.id }]);
      return became;
    }
    case 'announce':
      return set(deps, { team, owner }, fields);
    case 'remove':
      await removeUnchangedTeam(removalDeps(deps), team);
      say('deactivated team removed');
      return null;
  }
}

/** Requires the owner's version, so that a concurrent change of the tier is not missed. */
function set(
  { engine: { documents }, audit }: RetentionDeps,
  { team, owner }: { team: Team; owner: User },
  changes: Changes<Team>,
  action?: 'team.lapsed' | 'team.deactivated',
): Promise<Team> {
  const recorded =
    action === undefined ? [] : audit({ action, subject: { id: team.id, name: team.name }, details: {} });
  return updateWith(documents, teams, team, { set: changes, otherWrites: [write.require(users, owner), ...recorded] });
}
