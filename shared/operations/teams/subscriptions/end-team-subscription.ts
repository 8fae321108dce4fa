import type { TeamSubscription } from '../../../domain/push/team-subscription.ts';
import type { Documents, Write } from '../../../ports/documents.ts';
import { retryStale } from '../../../documents/retry-stale.ts';
import { updateWith } from '../../../documents/update-with.ts';
import { teamSubscriptions } from '../../../collections/subscriptions-collection.ts';

/**
 * Marks the team subscription as ended, so that it covers and binds no member any more. `runTeamSubscription` ends the
 * subscriptions of the members. Resolves with null if it does not exist or has ended.
 */
export function endTeamSubscription(
  documents: Documents,
  of: { readonly id: string; readonly teamId: string; readonly now: number },
  record: (ended: TeamSubscription) => readonly Write[],
): Promise<TeamSubscription | null> {
  return retryStale(async () => {
    const found = await documents.get(teamSubscriptions, of.id);
    if (found === null || found.teamId !== of.teamId || found.endedAt !== null) return null;
    const set = { endedAt: of.now, pendingSince: of.now };
    return updateWith(documents, teamSubscriptions, found, { set, otherWrites: record(found) });
  });
}
