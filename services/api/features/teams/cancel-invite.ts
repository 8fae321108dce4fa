import { teamInvites } from '@tocsin/shared/stores/team-invites.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { inviteNotFound, loadInvite } from './load-invite.ts';

/** `DELETE /api/teams/invites/{invite_id}` */
export function cancelInvite(deps: ApiDeps): Route {
  return route({
    id: 'cancelTeamInvite',
    method: 'DELETE',
    path: '/api/teams/invites/{invite_id}',
    summary: 'Cancel an invite',
    audience: 'account',
    scope: 'account:write',
    success: { status: 204, schema: null, description: 'Its link is void' },
    load: (context) => loadInvite(deps, context),
    async handle(_context, { loaded: { invite } }) {
      if (!await deps.engine.documents.remove(teamInvites, invite.id)) throw inviteNotFound();
      return { status: 204 };
    },
  });
}
