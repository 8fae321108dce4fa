import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { Subscription } from '@tocsin/shared/domain/push/subscription.ts';
import type { TeamSubscription } from '@tocsin/shared/domain/push/team-subscription.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { teamSubscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';

export const setByTeam = () => new AppError('forbidden', 'This subscription is set by the team');

/** Returns the mandatory team subscription that applies, or null. */
export async function findMandatory(
  documents: Documents,
  { teamSubscriptionId }: Subscription,
): Promise<TeamSubscription | null> {
  const found = teamSubscriptionId === null ? null : await documents.get(teamSubscriptions, teamSubscriptionId);
  return found !== null && found.isMandatory && found.endedAt === null ? found : null;
}

/** Throws 403 if the team made the subscription mandatory. */
export async function refuseMandatory(documents: Documents, subscription: Subscription): Promise<void> {
  if ((await findMandatory(documents, subscription)) !== null) throw setByTeam();
}
