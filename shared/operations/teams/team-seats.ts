import { baseMembers } from '../../domain/teams/team.ts';
import type { User } from '../../domain/accounts/user.ts';
import type { Documents } from '../../ports/documents.ts';
import { findMembers, findOwnedTeams } from '../../collections/teams.ts';

/** The seats of an owner and their users. */
export interface Seats {
  readonly total: number;
  /** The distinct members of the owner's active teams, including the owner. */
  readonly holders: ReadonlySet<string>;
}

/** Seats count per owner over all active teams; pending invites do not count. */
export async function findSeats(documents: Documents, owner: Pick<User, 'id' | 'additionalMembers'>): Promise<Seats> {
  const owned = await findOwnedTeams(documents, owner.id);
  const members = await Promise.all(
    owned.filter(({ isActive }) => isActive).map(({ id }) => findMembers(documents, id)),
  );
  return {
    total: baseMembers + owner.additionalMembers,
    holders: new Set(members.flat().map(({ userId }) => userId)),
  };
}
