import type { Platform } from '@tocsin/shared/domain/push/device.ts';
import { pushProviders } from '@tocsin/shared/domain/push/push-platforms.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import type { PushResult } from '../providers/push-gateway.ts';
import type { PushMetrics } from './push-metrics.ts';

/** Prevents a log line for each of thousands of pushes. */
const everyMs = 60_000;
/** A device with a token of another app stays registered, and the operator cannot do much about it. */
const ofTokenEveryMs = 24 * 3_600_000;

export interface Refusal {
  readonly reason: string;
  /** What the operator should check. */
  readonly remedy: string;
  /** Whether a token of another app can be the cause. */
  readonly isOfToken?: true | undefined;
}

/** Reports to the operator that a provider rejects the installation, with a remedy. */
export type ReportRefusal = (platform: Platform, refusal: Refusal) => void;

/**
 * Logs a rejection of the installation immediately, and then once per minute and platform; one that a token of another
 * app can cause, once per day.
 */
export function refusalReport({ clock, log }: { clock: Clock; log: Logger }): ReportRefusal {
  const reportedAt = new Map<string, number>();
  return (platform, { reason, remedy, isOfToken = false }) => {
    const now = clock();
    const key = isOfToken ? `${platform} token` : platform;
    if (now - (reportedAt.get(key) ?? -Infinity) < (isOfToken ? ofTokenEveryMs : everyMs)) return;
    reportedAt.set(key, now);
    const { name } = pushProviders[platform];
    if (isOfToken)
      log.warn(
        { platform, reason },
        `${name} rejects a push: a device may have registered a token of another app. If all pushes fail, ${remedy}`,
      );
    else log.error({ platform, reason }, `${name} rejects this installation, its pushes wait: ${remedy}`);
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
    reportRefusal(platform, { reason: result.reason, remedy: result.remedy, isOfToken: result.isOfToken });
  }
}
