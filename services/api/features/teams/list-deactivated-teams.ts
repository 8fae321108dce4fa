import { teamPeriodsOf } from '@tocsin/shared/domain/teams/team-lifecycle.ts';
import { findOwnedTeams } from '@tocsin/shared/collections/teams.ts';
import { deactivationSchema, teamSchema, toDeactivationJson } from '@tocsin/shared/wire/team.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { describeTeam } from './describe-teams.ts';

/** `GET /api/teams/deactivated`: the caller's deactivated teams with the time until which each can be reactivated. */
export function listDeactivatedTeams(deps: Pick<ApiDeps, 'config' | 'engine'>): Route {
  return route({
    id: 'listDeactivatedTeams',
    method: 'GET',
    path: '/api/teams/deactivated',
    summary: 'List the deactivated teams that the caller owns',
    audience: 'account',
    scope: 'account:read',
    success: {
      status: 200,
      schema: z.array(teamSchema.extend(deactivationSchema.shape)),
      description: 'The teams, newest first, with the time of their removal',
    },
    async handle(context) {
      const { documents } = deps.engine;
      const owned = await findOwnedTeams(documents, context.account().userId);
      const body = await Promise.all(
        owned
          .filter(({ isActive }) => !isActive)
          .map(async (team) => ({
            ...(await describeTeam(documents, { team, role: 'owner' })),
            ...toDeactivationJson(team, teamPeriodsOf(deps.config)),
          })),
      );
      return { status: 200, body };
    },
  });
}
