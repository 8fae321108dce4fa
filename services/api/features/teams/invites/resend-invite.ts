import { inviteLifetimeMs } from '@tocsin/shared/domain/teams/team.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { teamInvites } from '@tocsin/shared/collections/team-invites.ts';
import { addMail, takeMailBudget } from '@tocsin/shared/runtime/request-mail.ts';
import type { ApiDeps } from '../../../api-deps.ts';
import { route, type RequestContext, type Route } from '../../../http/route.ts';
import { withinMailLimits } from '../../../access/mail-limits.ts';
import { inviteNotFound, loadInvite } from './load-invite.ts';
import { requireActiveTeam } from '../require-active-team.ts';

/** `POST /api/teams/invites/{invite_id}/resend`: sends a new link, valid for 7 days. */
export function resendInvite(deps: Pick<ApiDeps, 'clock' | 'config' | 'engine' | 'log' | 'makeId'>): Route {
  return route({
    id: 'resendTeamInvite',
    method: 'POST',
    path: '/api/teams/invites/{invite_id}/resend',
    summary: 'Resend an invite with a new link',
    audience: 'account',
    scope: 'account:write',
    success: { status: 204, schema: null, description: 'The email is queued; the previous link is invalid' },
    async load(context: RequestContext) {
      const open = await loadInvite(deps, context);
      requireActiveTeam(open.team);
      return open.invite;
    },
    async handle(context, { loaded: { id, email } }) {
      // If no email can be queued, the previous link stays valid.
      const requester = context.account().userId;
      await withinMailLimits(deps, context, async () => {
        const isMailed = await takeMailBudget(deps, { email, requester }, 'team-invite');
        await renew(deps.engine.documents, id, { expiresAt: context.now + inviteLifetimeMs, isMailed });
        if (isMailed) await addMail(deps, { kind: 'team-invite', inviteId: id });
      });
      return { status: 204 };
    },
  });
}

async function renew(documents: Documents, id: string, to: { expiresAt: number; isMailed: boolean }): Promise<void> {
  await retryStale(async () => {
    const invite = await documents.get(teamInvites, id);
    if (invite === null) throw inviteNotFound();
    await documents.update(teamInvites, invite, {
      expiresAt: to.expiresAt,
      ...(to.isMailed ? { tokenHash: null } : {}),
    });
  });
}
