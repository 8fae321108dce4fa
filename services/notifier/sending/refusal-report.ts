import type { Platform } from '@tocsin/shared/domain/push/device.ts';
import { pushProviders } from '@tocsin/shared/domain/push/push-platforms.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import type { PushResult } from '../providers/push-gateway.ts';
import type { PushMetrics } from './push-metrics.ts';

/** Harm prevented: a line for each of thousands of pushes. */
const everyMs = 60_000;

/** Tells the operator that a provider refuses the installation, and what to look at. */
export type ReportRefusal = (platform: Platform, refusal: { reason: string; remedy: string }) => void;

/** Logs a refusal at once, and of each platform once a minute while it lasts. */
export function refusalReport({ clock, log }: { clock: Clock; log: Logger }): ReportRefusal {
  const reportedAt = new Map<Platform, number>();
  return (platform, { reason, remedy }) => {
    const now = clock();
    if (now - (reportedAt.get(platform) ?? -Infinity) < everyMs) return;
    reportedAt.set(platform, now);
    log.error(
      { platform, reason },
      `${pushProviders[platform].name} refuses this installation, its pushes wait: ${remedy}`,
    );
  };
}

/** Counts and reports those of the results of pushes by which the provider refuses the installation. */
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
