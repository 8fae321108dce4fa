import { toIso } from '@tocsin/shared/domain/message-json.ts';
import type { TeamMember } from '@tocsin/shared/domain/team.ts';
import type { User } from '@tocsin/shared/domain/user.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { findUsers } from '@tocsin/shared/stores/users.ts';
import type { z } from 'zod';
import type { memberSchema } from './team-json.ts';

export type MemberJson = z.infer<typeof memberSchema>;

/** The members with their accounts, in the given order; one whose account is being deleted is left out. */
export async function describeMembers(documents: Documents, members: readonly TeamMember[]): Promise<MemberJson[]> {
  const accounts = new Map((await findUsers(documents, members.map(({ userId }) => userId))).map((user) => [user.id, user]));
  return members.flatMap((member) => {
    const user = accounts.get(member.userId);
    return user === undefined ? [] : [toMemberJson(member, user)];
  });
}

function toMemberJson(member: TeamMember, user: User): MemberJson {
  return {
    id: member.id,
    team_id: member.teamId,
    user_id: member.userId,
    username: user.username,
    email: user.email,
    role: member.role,
    joined_at: toIso(member.joinedAt),
    is_active: user.isActive,
  };
}
