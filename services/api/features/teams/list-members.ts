import { describeMembers } from '@tocsin/shared/operations/teams/describe-members.ts';
import { findMembers } from '@tocsin/shared/collections/teams.ts';
import { memberSchema } from '@tocsin/shared/wire/team.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { loadTeam } from './load-team.ts';

/** `GET /api/teams/{team_id}/members` */
export function listMembers(deps: Pick<ApiDeps, 'engine'>): Route {
  return route({
    id: 'listTeamMembers',
    method: 'GET',
    path: '/api/teams/{team_id}/members',
    summary: "A team's members",
    audience: 'account',
    scope: 'account:read',
    success: { status: 200, schema: z.array(memberSchema), description: 'The members, newest first' },
    load: loadTeam(deps, 'member'),
    async handle(_context, { loaded: { team } }) {
      const { documents } = deps.engine;
      return { status: 200, body: await describeMembers(documents, await findMembers(documents, team.id)) };
    },
  });
}
