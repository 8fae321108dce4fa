import { toIso } from '@tocsin/shared/wire/message-json.ts';
import { givenRoles, type TeamInvite } from '@tocsin/shared/domain/teams/team.ts';
import { z } from 'zod';

/** The team invite object of the interface. The mailed token is nowhere to be read. */
export const inviteSchema = z
  .object({
    id: z.uuid(),
    team_id: z.uuid(),
    email: z.string(),
    role: z.enum(givenRoles),
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
