import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';

/** Tells of a store that the feeds of a node cannot read. */
export interface StoreOutage {
  /** A feed could not read the store. */
  failed(topicId: string, error: unknown): void;
  /** A feed has read what it missed, or is closed. */
  over(topicId: string): void;
}

/** The first pause between two lines of an outage; it doubles up to a minute. Harm prevented: a log in which nothing else is found. */
const pauseMsMin = 1_000;
const pauseMsMax = 60_000;

/** Logs the first failure, then one at growing distances, and once that the store is read again, however many feeds wait for it. */
export function storeOutage(log: Pick<Logger, 'warn' | 'info'>, clock: Clock): StoreOutage {
  const waiting = new Set<string>();
  let pauseMs = pauseMsMin;
  let quietUntil = -Infinity;
  return {
    failed(topicId, error) {
      waiting.add(topicId);
      const now = clock();
      if (now < quietUntil) return;
      log.warn({ err: error, topicId, topics: waiting.size }, 'topics wait for the store');
      quietUntil = now + pauseMs;
      pauseMs = Math.min(pauseMs * 2, pauseMsMax);
    },
    over(topicId) {
      if (!waiting.delete(topicId) || waiting.size > 0) return;
      log.info('the store is read again for all topics');
      pauseMs = pauseMsMin;
      quietUntil = -Infinity;
    },
  };
}
