import { describeMembers } from '@tocsin/shared/operations/teams/describe-members.ts';
import { findMembers } from '@tocsin/shared/collections/teams.ts';
import { memberSchema, teamSchema, toTeamJson } from '@tocsin/shared/wire/team.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { loadTeam } from './load-team.ts';

/** `GET /api/teams/{team_id}` */
export function getTeam(deps: Pick<ApiDeps, 'engine'>): Route {
  return route({
    id: 'getTeam',
    method: 'GET',
    path: '/api/teams/{team_id}',
    summary: 'Get a team with its members',
    audience: 'account',
    scope: 'account:read',
    success: {
      status: 200,
      schema: teamSchema.extend({ members: z.array(memberSchema) }),
      description: 'The team; members newest first',
    },
    load: loadTeam(deps, 'member'),
    async handle(_context, { loaded: { team, role } }) {
      const { documents } = deps.engine;
      const members = await describeMembers(documents, await findMembers(documents, team.id));
      return { status: 200, body: { ...toTeamJson(team, members.length), my_role: role, members } };
    },
  });
}
