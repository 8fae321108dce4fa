import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { Log } from '@tocsin/shared/platform/log.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { subscriptions } from '@tocsin/shared/stores/subscriptions-collection.ts';

/** How far behind the times may be. */
const everyMs = 1_000;
/** Subscriptions written at once. */
const batchSize = 500;
/** Harm prevented: memory filling while the store is away. */
const pendingMax = 50_000;

/** When each subscription was last notified: the time of the last push that a provider took. */
export interface NotifiedTimes {
  add(subscriptionId: string, at: number): void;
  /** Writes what is left, once. */
  close(): Promise<void>;
}

/**
 * Gathers the times and writes them every second, those of one time together: a write for each push would cost as much as
 * the push. The next push replaces a time that a crash loses; while the store is away they wait.
 */
export function notifiedTimes({ documents, log }: { documents: Pick<Documents, 'raise'>; log: Log }): NotifiedTimes {
  let pending = new Map<string, number>();
  const add = (subscriptionId: string, at: number): void => {
    const before = pending.get(subscriptionId);
    if (before === undefined && pending.size >= pendingMax) return;
    pending.set(subscriptionId, Math.max(at, before ?? at));
  };
  const writeAll = async (): Promise<void> => {
    const byTime = Map.groupBy(pending, ([, at]) => at);
    pending = new Map();
    for (const [to, entries] of byTime) {
      const ids = entries.map(([id]) => id);
      try {
        for (let start = 0; start < ids.length; start += batchSize) await documents.raise(subscriptions, ids.slice(start, start + batchSize), { field: 'lastNotifiedAt', to });
      } catch (error) {
        if (error instanceof AppError && error.code === 'unavailable') ids.forEach((id) => add(id, to));
        else log.warn({ err: error }, 'times of the last push were not noted');
      }
    }
  };
  let writing = Promise.resolve();
  // One after the other, however long one takes.
  const flush = (): Promise<void> => (writing = writing.then(writeAll));
  const timer = setInterval(() => void (pending.size > 0 && flush()), everyMs).unref();
  return {
    add,
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}
