import { z } from 'zod';
import { assignableRoles, type TeamInvite } from '../domain/teams/team.ts';
import { toIso } from '../domain/to-iso.ts';

/** An invite to a team, without the token that the invited person received by email. */
export const inviteSchema = z
  .object({
    id: z.uuid(),
    team_id: z.uuid(),
    email: z.string(),
    role: z.enum(assignableRoles),
    invited_by_id: z.uuid(),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime(),
    is_expired: z.boolean(),
  })
  .meta({ id: 'TeamInvite' });

export function toInviteJson(invite: TeamInvite, now: number): z.infer<typeof inviteSchema> {
  return {
    id: invite.id,
    team_id: invite.teamId,
    email: invite.email,
    role: invite.role,
    invited_by_id: invite.invitedById,
    created_at: toIso(invite.createdAt),
    expires_at: toIso(invite.expiresAt),
    is_expired: invite.expiresAt <= now,
  };
}
