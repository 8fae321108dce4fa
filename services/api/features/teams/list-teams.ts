import { findMemberships } from '@tocsin/shared/collections/teams.ts';
import { teamSchema } from '@tocsin/shared/wire/team.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { describeTeams } from './describe-teams.ts';

/** `GET /api/teams`: the caller's teams, active or not, newest first. */
export function listTeams(deps: Pick<ApiDeps, 'engine'>): Route {
  return route({
    id: 'listTeams',
    method: 'GET',
    path: '/api/teams',
    summary: "The caller's teams",
    audience: 'account',
    scope: 'account:read',
    success: { status: 200, schema: z.array(teamSchema), description: 'The teams, newest first' },
    async handle(context) {
      const { documents } = deps.engine;
      return {
        status: 200,
        body: await describeTeams(documents, await findMemberships(documents, context.account().userId)),
      };
    },
  });
}
