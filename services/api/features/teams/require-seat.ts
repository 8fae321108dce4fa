import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { Team } from '@tocsin/shared/domain/teams/team.ts';
import type { User } from '@tocsin/shared/domain/accounts/user.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { findSeats } from '@tocsin/shared/operations/teams/team-seats.ts';
import { users } from '@tocsin/shared/collections/users.ts';

/**
 * Returns the team's owner if a seat is available for the person: their seat in another active team of the owner,
 * or a free one (null: a person without an account). Throws 403 otherwise.
 */
export async function requireSeat(documents: Documents, team: Team, userId: string | null): Promise<User> {
  const owner = await documents.get(users, team.ownerId);
  if (owner === null) throw new AppError('not_found', 'Team not found'); // the owner's account is being deleted
  const { holders, total } = await findSeats(documents, owner);
  const isSeated = userId !== null && holders.has(userId);
  if (!isSeated && holders.size >= total) throw new AppError('forbidden', 'Team is full');
  return owner;
}
