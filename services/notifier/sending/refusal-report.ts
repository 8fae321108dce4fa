import type { Platform } from '@tocsin/shared/domain/push/device.ts';
import { pushProviders } from '@tocsin/shared/domain/push/push-platforms.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import type { PushResult } from '../providers/push-gateway.ts';
import type { PushMetrics } from './push-metrics.ts';

/** Prevents a log line for each of thousands of pushes. */
const everyMs = 60_000;

/** Reports to the operator that a provider rejects the installation, with a remedy. */
export type ReportRefusal = (platform: Platform, refusal: { reason: string; remedy: string }) => void;

/** Logs a rejection immediately, and then once per minute and platform. */
export function refusalReport({ clock, log }: { clock: Clock; log: Logger }): ReportRefusal {
  const reportedAt = new Map<Platform, number>();
  return (platform, { reason, remedy }) => {
    const now = clock();
    if (now - (reportedAt.get(platform) ?? -Infinity) < everyMs) return;
    reportedAt.set(platform, now);
    log.error(
      { platform, reason },
      `${pushProviders[platform].name} rejects this installation, its pushes wait: ${remedy}`,
    );
  };
}

/** Counts and reports push results with which the provider rejects the installation. */
export function noteRefusals(
  {
    metrics,
    reportRefusal,
  }: { readonly metrics: Pick<PushMetrics, 'refusals'>; readonly reportRefusal: ReportRefusal },
  platform: Platform,
  results: readonly PushResult[],
): void {
  for (const result of results) {
    if (result.kind !== 'retry' || result.remedy === undefined) continue;
    metrics.refusals.inc({ platform, reason: result.reason });
    reportRefusal(platform, { reason: result.reason, remedy: result.remedy });
  }
}
