import { inviteKeptMs } from '@tocsin/shared/domain/teams/team.ts';
import { teamInvites } from '@tocsin/shared/collections/team-invites.ts';
import { removeOlder } from './sweep/remove-older.ts';
import type { RetentionDeps, SweepLimit, SweepReport } from './sweep/retention-deps.ts';

/** Removes team invites that are no longer listed, 7 days after their end. */
export function removeOldInvites(deps: RetentionDeps, limit: SweepLimit): Promise<SweepReport> {
  return removeOlder(deps, limit, { collection: teamInvites, index: 'byExpiry', time: deps.clock() - inviteKeptMs });
}
