import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { membershipsMax, teamMembers } from '@tocsin/shared/collections/teams.ts';

export const teamLimitReached = () => new AppError('forbidden', 'Team limit reached');

/** Throws 403 if the account has reached the limit of teams that its lists can show. */
export async function requireRoomForMembership(documents: Documents, userId: string): Promise<void> {
  const count = await documents.count(teamMembers, { index: 'byUser', equals: { userId } });
  if (count >= membershipsMax) throw teamLimitReached();
}
