import type { Platform } from '@tocsin/shared/domain/push/device.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { QuietSpans } from '@tocsin/shared/platform/daily-hours.ts';
import type { MakeId } from '@tocsin/shared/platform/ids.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import type { Tracing } from '@tocsin/shared/runtime/tracing/tracing.ts';
import type { NotifiedTimes } from './notified-times.ts';
import type { WatchedGateway } from '../providers/watch-provider.ts';
import type { PushMetrics } from './push-metrics.ts';
import type { PushReads } from './push-reads.ts';
import type { ReportRefusal } from './refusal-report.ts';

/** The dependencies of pushing. */
export interface PushDeps {
  readonly engine: Pick<Engine, 'messages' | 'deliveries' | 'documents' | 'jobQueue' | 'bus'>;
  readonly reads: PushReads;
  /** One gateway per configured platform. */
  readonly gateways: ReadonlyMap<Platform, WatchedGateway>;
  readonly notifiedTimes: NotifiedTimes;
  readonly quietSpans: QuietSpans;
  readonly reportRefusal: ReportRefusal;
  readonly metrics: PushMetrics;
  readonly tracing: Tracing;
  readonly clock: Clock;
  /** Whether the apps have Apple's entitlement for critical alerts. */
  readonly isCriticalAllowed: boolean;
  /** The public URL of the API, without a trailing slash. */
  readonly baseUrl: string;
  /** In [0, 1). */
  readonly random: () => number;
  readonly makeId: MakeId;
  readonly log: Logger;
  readonly limits: PushLimits;
  /** Aborted when the service closes; no further batch starts. */
  readonly closing: AbortSignal;
}

export interface PushLimits {
  /** Subscriptions or devices on a first page: most messages have no other page. See `pageSizeOf`. */
  readonly firstPageSize: number;
  /** On later pages: large enough to make the queue's cost negligible, small enough for concurrent pages. */
  readonly pageSize: number;
  /** An older claim belongs to a dead worker. Longer than any send. */
  readonly claimStaleMs: number;
  /** The first pause before a retry; it doubles with each round. */
  readonly backoffMs: number;
  /** How long a push is retried after its first failure. */
  readonly retryForMs: number;
  /** The delay before receipts are first fetched. */
  readonly receiptAfterMs: number;
  /** The update interval of a summary while more messages arrive. */
  readonly renewalMs: number;
  /** Pushes of older messages have no badge, so that counting does not slow a notifier that lags. */
  readonly badgeAgeMsMax: number;
}
