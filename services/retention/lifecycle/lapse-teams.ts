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
import { tellNodes } from './tell-nodes.ts';
import { walkTeams } from './walk-teams.ts';

/**
 * Takes every team whose owner is below the TEAM tier one step further: a mail and a grace, the deactivation, three more
 * mails, the removal. What a step decides is stored before its mails are handed to the queue, and that they were is
 * stored after it: a run that is cut off mails nothing twice and leaves nothing out.
 */
export async function lapseTeams(deps: RetentionDeps, limit: SweepLimit): Promise<SweepReport> {
  let removed = 0;
  // Deactivated ones first: none goes through two phases in one run.
  for (const isActive of [false, true]) {
    for await (const page of walkTeams(deps.engine.documents, isActive)) {
      if (isOver(deps, limit)) return { removed, hasMore: true };
      const owners = await deps.engine.documents.getMany(users, [...new Set(page.map(({ ownerId }) => ownerId))]);
      const ownerOf = new Map(owners.map((owner) => [owner.id, owner]));
      const announced: Team[] = [];
      for (const team of page) {
        const owner = ownerOf.get(team.ownerId);
        // Without an owner it is being erased with the owner's account.
        const became = owner === undefined ? team : await takeStep(deps, team, owner);
        if (became === null) removed += 1;
        else if (became.notice !== null && became.noticeSentAt === null) announced.push(became);
      }
      await mailTeamNotices(deps, announced);
    }
  }
  return { removed, hasMore: false };
}

/** Resolves with what became of the team; null: it was removed. One that was changed meanwhile waits for the next run. */
async function takeStep(deps: RetentionDeps, team: Team, owner: User): Promise<Team | null> {
  try {
    return await tryStep(deps, team, owner);
  } catch (error) {
    if (isUnavailable(error)) throw error;
    if (!(error instanceof StaleVersion))
      deps.log.error({ err: error, teamId: team.id }, 'a team without its tier could not be taken further');
    return team;
  }
}

async function tryStep(deps: RetentionDeps, team: Team, owner: User): Promise<Team | null> {
  const now = deps.clock();
  const say = (message: string) => deps.log.info({ teamId: team.id, ownerId: team.ownerId }, message);
  const step = nextTeamStep(team, tierInForce(owner, now), { ...deps.teamPeriods, now });
  const fields = fieldsAfterStep(step, now);
  switch (step.kind) {
    case 'rest':
    case 'mail':
      return team;
    case 'lapse':
      say('the grace of a team begins: its owner is below the TEAM tier');
      return set(deps, { team, owner }, fields, 'team.lapsed');
    case 'recover':
      return set(deps, { team, owner }, fields);
    case 'deactivate': {
      const became = await set(deps, { team, owner }, fields, 'team.deactivated');
      say('a team was deactivated: its grace is over');
      await tellNodes(deps, [{ kind: 'team', teamId: team.id }]);
      return became;
    }
    case 'announce':
      return set(deps, { team, owner }, fields);
    case 'remove':
      await removeUnchangedTeam(removalDeps(deps), team);
      say('a deactivated team was removed');
      return null;
  }
}

/** Only while the owner is as read: a tier that is given in this moment is not overlooked. */
function set(
  { engine: { documents }, audit }: RetentionDeps,
  { team, owner }: { team: Team; owner: User },
  changes: Changes<Team>,
  action?: 'team.lapsed' | 'team.deactivated',
): Promise<Team> {
  const recorded =
    action === undefined ? [] : audit({ action, subject: { id: team.id, name: team.name }, details: {} });
  return updateWith(documents, teams, team, { set: changes, also: [write.require(users, owner), ...recorded] });
}
