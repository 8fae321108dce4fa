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
import type { ReportRefusal } from './refusal-report.ts';

/** What pushing works with. */
export interface PushDeps {
  readonly engine: Pick<Engine, 'messages' | 'deliveries' | 'documents' | 'jobQueue' | 'bus'>;
  /** One for each platform that is configured. */
  readonly gateways: ReadonlyMap<Platform, WatchedGateway>;
  readonly notifiedTimes: NotifiedTimes;
  readonly quietSpans: QuietSpans;
  readonly reportRefusal: ReportRefusal;
  readonly metrics: PushMetrics;
  readonly tracing: Tracing;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly makeId: MakeId;
  readonly log: Logger;
  readonly limits: PushLimits;
  /** Aborted when the service closes: no further batch is begun. */
  readonly closing: AbortSignal;
}

export interface PushLimits {
  /** Subscriptions in a page: large enough that the queue costs nothing, small enough that pages run side by side. */
  readonly pageSize: number;
  /** A claim this old belongs to a worker that died. Longer than any send lasts. */
  readonly claimStaleMs: number;
  /** The first pause before a push is tried again; it doubles with each round. */
  readonly backoffMs: number;
  /** How long a push is tried again, from the first failure on. */
  readonly retryForMs: number;
  /** When a provider that gives tickets is asked for receipts first. */
  readonly receiptAfterMs: number;
  /** How often the push that says how many more messages there are is renewed while they keep coming. */
  readonly renewalMs: number;
}
