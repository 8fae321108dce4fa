import { findInvites } from '@tocsin/shared/collections/team-invites.ts';
import { inviteSchema, toInviteJson } from '@tocsin/shared/wire/invite.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../../api-deps.ts';
import { route, type Route } from '../../../http/route.ts';
import { loadTeam } from '../load-team.ts';

/** `GET /api/teams/{team_id}/invites`: expired invites are listed for 7 days. */
export function listInvites(deps: Pick<ApiDeps, 'engine'>): Route {
  return route({
    id: 'listTeamInvites',
    method: 'GET',
    path: '/api/teams/{team_id}/invites',
    summary: "List a team's pending invites",
    audience: 'account',
    scope: 'account:read',
    success: {
      status: 200,
      schema: z.array(inviteSchema),
      description: 'The invites, newest first, including those that expired in the last 7 days',
    },
    load: loadTeam(deps, 'manager'),
    async handle(context, { loaded: { team } }) {
      const invites = await findInvites(deps.engine.documents, team.id, context.now);
      return { status: 200, body: invites.map((invite) => toInviteJson(invite, context.now)) };
    },
  });
}
