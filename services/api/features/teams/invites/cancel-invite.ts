import { write } from '@tocsin/shared/ports/documents.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { teamInvites } from '@tocsin/shared/collections/team-invites.ts';
import type { ApiDeps } from '../../../api-deps.ts';
import { auditOf } from '../../../audit.ts';
import { route, type Route } from '../../../http/route.ts';
import { inviteNotFound, loadInvite } from './load-invite.ts';

/** `DELETE /api/teams/invites/{invite_id}` */
export function cancelInvite(deps: Pick<ApiDeps, 'clock' | 'engine' | 'makeId' | 'wholeAddress'>): Route {
  return route({
    id: 'cancelTeamInvite',
    method: 'DELETE',
    path: '/api/teams/invites/{invite_id}',
    summary: 'Cancel an invite',
    audience: 'account',
    scope: 'account:write',
    success: { status: 204, schema: null, description: "The invite's link is invalid" },
    load: (context) => loadInvite(deps, context),
    async handle(
      context,
      {
        loaded: {
          invite: { id, teamId },
        },
      },
    ) {
      const { documents } = deps.engine;
      const recorded = auditOf(
        deps,
        context,
      )({ action: 'team.invite_cancelled', subject: { id }, within: { type: 'team', id: teamId }, details: {} });
      await retryStale(async () => {
        const invite = await documents.get(teamInvites, id);
        if (invite === null) throw inviteNotFound();
        await documents.commit([write.remove(teamInvites, id, invite.version), ...recorded]);
      });
      return { status: 204 };
    },
  });
}
