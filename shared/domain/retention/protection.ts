import type { LogConsumer } from '../log/log-consumer.ts';

/** How long after their expiry protection keeps the records that a consumer has not read. */
export const protectedMs = 7 * 86_400_000;

/**
 * Returns the time that counts as now for what a protected consumer reads: it gets records that expired later, but none
 * that had expired before it was created or moved back.
 */
export function protectedHorizon({ placedAt, updatedAt }: Pick<LogConsumer, 'placedAt' | 'updatedAt'>, now: number) {
  return Math.min(now, Math.max(now - protectedMs, placedAt ?? updatedAt));
}
