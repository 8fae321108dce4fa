import type { Logger } from '@tocsin/shared/platform/logger.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { GatheredUpdates } from '@tocsin/shared/async/gathered-updates.ts';
import { subscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';

/** How far behind the times may be, and how far after the push. */
const everyMs = 1_000;

/** When each subscription was last notified: the time of the last push that a provider took. */
export type NotifiedTimes = GatheredUpdates<number>;

/**
 * Gathers the times and writes them every second, those of one second together and as the latest of them: a write for each push
 * would cost as much as the push. The next push replaces a time that a crash loses.
 */
export function notifiedTimes({ documents, log }: { documents: Pick<Documents, 'raise'>; log: Logger }): NotifiedTimes {
  return new GatheredUpdates<number>({
    of: subscriptions.name,
    everyMs,
    merge: (a, b) => Math.max(a, b),
    async write(batch) {
      // What is written twice because a later time could not be written changes nothing.
      for (const entries of Map.groupBy(batch, ([, at]) => Math.floor(at / everyMs)).values()) {
        const to = Math.max(...entries.map(([, at]) => at));
        await documents.raise(
          subscriptions,
          entries.map(([id]) => id),
          { field: 'lastNotifiedAt', to },
        );
      }
      return new Map();
    },
    onLoss: (error) => log.warn({ err: error }, 'times of the last push were not noted'),
  });
}
