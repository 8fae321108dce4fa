import { type MemberJson, toMemberJson } from '../../wire/team.ts';
import type { TeamMember } from '../../domain/teams/team.ts';
import type { Documents } from '../../ports/documents.ts';
import { findUsers } from '../../collections/users.ts';

/** Returns the members with their accounts, in the given order, without members whose account is being deleted. */
export async function describeMembers(documents: Documents, members: readonly TeamMember[]): Promise<MemberJson[]> {
  const accounts = new Map(
    (
      await findUsers(
        documents,
        members.map(({ userId }) => userId),
      )
    ).map((user) => [user.id, user]),
  );
  return members.flatMap((member) => {
    const user = accounts.get(member.userId);
    return user === undefined ? [] : [toMemberJson(member, user)];
  });
}
