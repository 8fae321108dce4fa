import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { membershipsMax, teamMembers } from '@tocsin/shared/collections/teams.ts';

export const teamLimitReached = () => new AppError('forbidden', 'Team limit reached');

/** Throws 403 when the account is in as many teams as its lists can show. */
export async function requireRoomForMembership(documents: Documents, userId: string): Promise<void> {
  const count = await documents.count(teamMembers, { index: 'byUser', equals: { userId } });
  if (count >= membershipsMax) throw teamLimitReached();
}
