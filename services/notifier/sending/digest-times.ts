import type { DigestSchedule } from '@tocsin/shared/domain/push/digest.ts';
import { nextTimeOfDay } from '@tocsin/shared/platform/daily-hours.ts';
import type { Digest } from '@tocsin/shared/collections/push/digests.ts';

const minuteMs = 60_000;
const intervalMs = { '15m': 15 * minuteMs, '1h': 60 * minuteMs } as const;

/** How long a notifier may take for a digest before another one takes over. */
export const leaseMs = 60_000;

/** Returns when a digest is sent whose first message is collected now. */
export function dueAfter({ every, timeOfDay, timezone }: DigestSchedule, now: number): number {
  return every === '1d' ? nextTimeOfDay({ timeOfDay: timeOfDay!, timezone: timezone! }, now) : now + intervalMs[every];
}

/**
 * Returns the changes of a digest after the clock was set back: its messages do not wait longer than if they were
 * collected now, and a notifier that is sending it keeps its time.
 */
export function timesAfterSetBack(digest: Digest, now: number): Pick<Digest, 'dueAt' | 'decidedAt' | 'claimedAt'> {
  const latest = digest.claimedAt === null ? dueAfter(digest, now) : now + leaseMs;
  return { dueAt: Math.min(digest.dueAt, latest), decidedAt: now, claimedAt: digest.claimedAt };
}
