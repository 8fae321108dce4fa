import type { Subscription } from '@tocsin/shared/domain/subscription.ts';
import type { Log } from '@tocsin/shared/platform/log.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { CoalescedUpdates } from '@tocsin/shared/stores/coalesced-updates.ts';
import { subscriptions } from '@tocsin/shared/stores/subscriptions-collection.ts';

/** How far behind the times may be. */
const everyMs = 1_000;

/** When each subscription was last notified: the time of the last push that a provider took. */
export type NotifiedTimes = CoalescedUpdates<Subscription, number>;

/** Gathers the times and writes them every second; the next push replaces one that a crash loses. */
export function notifiedTimes({ documents, log }: { documents: Documents; log: Log }): NotifiedTimes {
  return new CoalescedUpdates<Subscription, number>({
    documents, everyMs,
    collection: subscriptions,
    merge: (a, b) => Math.max(a, b),
    change: ({ lastNotifiedAt }, at) => (lastNotifiedAt !== null && lastNotifiedAt >= at ? null : { lastNotifiedAt: at }),
    onLoss: (error) => log.warn({ err: error }, 'times of the last push were not noted'),
  });
}
