import { AppError } from '@tocsin/shared/domain/errors.ts';
import { noNotice } from '@tocsin/shared/domain/teams/team-lifecycle.ts';
import type { Team } from '@tocsin/shared/domain/teams/team.ts';
import { UniqueKeyViolation, write, type New, type Write } from '@tocsin/shared/ports/documents.ts';
import { commitWithinQuota } from '@tocsin/shared/collections/quota-guards.ts';
import { findOwnedTeams, teamMembers, teams, teamsMax } from '@tocsin/shared/collections/teams.ts';
import { teamSchema, toTeamJson } from '@tocsin/shared/wire/team.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOf } from '../../audit.ts';
import { optionalField } from '../../http/fields.ts';
import { requireOwnAccount } from '../../http/require-own-account.ts';
import { route, type Route } from '../../http/route.ts';
import { requireTeamTier } from './require-team-tier.ts';
import { requireRoomForMembership, teamLimitReached } from './team-limit.ts';
import { teamFields } from './team-fields.ts';

const body = z.object({
  name: teamFields.name,
  display_name: teamFields.displayName,
  description: optionalField(teamFields.description),
});

/** `POST /api/teams`: the caller owns the team and is its first member. */
export function createTeam(deps: Pick<ApiDeps, 'clock' | 'engine' | 'makeId' | 'wholeAddress'>): Route {
  return route({
    id: 'createTeam',
    method: 'POST',
    path: '/api/teams',
    summary: 'Create a team',
    audience: 'account',
    scope: 'account:write',
    body,
    errors: { 409: 'The name is taken.' },
    success: { status: 201, schema: teamSchema, description: 'The team' },
    load: async (context) => requireTeamTier(context.account()),
    async handle(context, { body: fields }) {
      const { now } = context;
      const team: New<Team> = {
        id: deps.makeId(),
        name: fields.name,
        displayName: fields.display_name,
        description: fields.description ?? '',
        ownerId: context.account().userId,
        isActive: true,
        createdAt: now,
        updatedAt: now,
        deactivatedAt: null,
        ...noNotice,
        removal: null,
      };
      await store(
        deps,
        team,
        auditOf(deps, context)({ action: 'team.created', subject: { id: team.id, name: team.name }, details: {} }),
      );
      return { status: 201, body: { ...toTeamJson({ ...team, version: 1 }, 1), my_role: 'owner' } };
    },
  });
}

/** Throws 403 at the limit and 409 for a taken name. */
async function store(
  deps: Pick<ApiDeps, 'engine' | 'makeId'>,
  team: New<Team>,
  recorded: readonly Write[],
): Promise<void> {
  const { documents } = deps.engine;
  const { ownerId: userId, createdAt: joinedAt } = team;
  await commitWithinQuota(documents, userId, async () => {
    const owner = await requireOwnAccount(documents, userId);
    if ((await findOwnedTeams(documents, userId)).length >= teamsMax) throw teamLimitReached();
    await requireRoomForMembership(documents, userId);
    const member = {
      id: deps.makeId(),
      teamId: team.id,
      userId,
      role: 'owner',
      joinedAt,
      subscribesSince: null,
    } as const;
    return {
      writes: [owner, write.insert(teams, team), write.insert(teamMembers, member), ...recorded],
      result: undefined,
    };
  }).catch((error: unknown) => {
    const isTaken = error instanceof UniqueKeyViolation && error.collection === teams.name && error.key === 'name';
    throw isTaken ? new AppError('conflict', 'Team name already exists', { cause: error }) : error;
  });
}
