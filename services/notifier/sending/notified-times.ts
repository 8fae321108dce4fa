import type { Logger } from '@tocsin/shared/platform/logger.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { WriteBehindBuffer } from '@tocsin/shared/async/write-behind-buffer.ts';
import { subscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';

/** The maximum delay of the recorded times. */
const everyMs = 1_000;

/** Records when each subscription was last notified: the time of its last accepted push. */
export type NotifiedTimes = WriteBehindBuffer<number>;

/**
 * Buffers the times and writes the latest ones every second, because a write per push would cost as much as the push.
 * After a crash, the next push replaces a lost time.
 */
export function notifiedTimes({ documents, log }: { documents: Pick<Documents, 'raise'>; log: Logger }): NotifiedTimes {
  return new WriteBehindBuffer<number>({
    of: subscriptions.name,
    everyMs,
    merge: (a, b) => Math.max(a, b),
    async write(batch) {
      // Writes are idempotent, so repeating them after a failure is safe.
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
    onLoss: (error) => log.warn({ err: error }, 'the times of last pushes were not recorded'),
  });
}
