import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { Team } from '@tocsin/shared/domain/teams/team.ts';
import type { User } from '@tocsin/shared/domain/accounts/user.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { findSeats } from '@tocsin/shared/operations/teams/team-seats.ts';
import { users } from '@tocsin/shared/collections/users.ts';

/**
 * The team's owner, who has a seat for the person: one that the person takes already, in any of the owner's active teams,
 * or a free one (null: somebody without an account). Throws 403 when there is none.
 */
export async function requireSeat(documents: Documents, team: Team, userId: string | null): Promise<User> {
  const owner = await documents.get(users, team.ownerId);
  if (owner === null) throw new AppError('not_found', 'Team not found'); // the owner's account is being deleted
  const { holders, total } = await findSeats(documents, owner);
  const isSeated = userId !== null && holders.has(userId);
  if (!isSeated && holders.size >= total) throw new AppError('forbidden', 'Team is full');
  return owner;
}
