import { findTeamSubscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { teamSubscriptionSchema } from '@tocsin/shared/wire/subscription.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../../api-deps.ts';
import { route, type Route } from '../../../http/route.ts';
import { loadTeam } from '../load-team.ts';
import { describeTeamSubscriptions } from './describe-team-subscriptions.ts';

/** `GET /api/teams/{team_id}/subscriptions` */
export function listTeamSubscriptions(deps: Pick<ApiDeps, 'engine'>): Route {
  return route({
    id: 'listTeamSubscriptions',
    method: 'GET',
    path: '/api/teams/{team_id}/subscriptions',
    summary: 'List the subscriptions that a team set for its members',
    audience: 'account',
    scope: 'account:read',
    success: {
      status: 200,
      schema: z.array(teamSubscriptionSchema),
      description: 'The team subscriptions, newest first',
    },
    load: loadTeam(deps, 'manager'),
    async handle(_context, { loaded: { team } }) {
      const { documents } = deps.engine;
      const found = await findTeamSubscriptions(documents, team.id);
      return { status: 200, body: await describeTeamSubscriptions(documents, found) };
    },
  });
}
