import { baseMembers } from '../../domain/teams/team.ts';
import type { User } from '../../domain/accounts/user.ts';
import type { Documents } from '../../ports/documents.ts';
import { findMembers, findOwnedTeams } from '../../collections/teams.ts';

/** An owner's seats, and who takes them. */
export interface Seats {
  readonly total: number;
  /** Everyone in an active team of the owner, the owner included, each once. */
  readonly holders: ReadonlySet<string>;
}

/** Seats are the owner's, over all active teams; pending invites take none. */
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
