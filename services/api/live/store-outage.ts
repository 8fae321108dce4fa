import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';

/** Reports a store that the feeds of a node cannot read. */
export interface StoreOutage {
  /** A feed could not read the store. */
  failed(topicId: string, error: unknown): void;
  /** A feed has caught up or is closed. */
  over(topicId: string): void;
}

/** The first interval between log lines of an outage; it doubles up to a minute, so that the log stays readable. */
const pauseMsMin = 1_000;
const pauseMsMax = 60_000;

/**
 * Logs the first failure, further ones at growing intervals, and the recovery once, for any number of waiting feeds.
 */
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
