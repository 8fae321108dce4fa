import type { TeamPeriods } from '@tocsin/shared/domain/teams/team-lifecycle.ts';
import type { RetentionDays } from '@tocsin/shared/domain/accounts/tiers.ts';
import type { ArchiveStore } from '@tocsin/shared/ports/archive-store.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { MakeId } from '@tocsin/shared/platform/ids.ts';
import type { Config } from '@tocsin/shared/platform/load-config.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import type { Audit } from '@tocsin/shared/collections/audit-log.ts';
import type { SweepThrottle } from './sweep-throttle.ts';
import type { RetentionMetrics } from './retention-metrics.ts';

/** The dependencies of sweeps. */
export interface RetentionDeps {
  readonly engine: Pick<Engine, 'messages' | 'deliveries' | 'documents' | 'bus' | 'jobQueue' | 'storage'>;
  readonly config: Pick<Config, 'RATE_LIMITS' | 'RETENTION_PROTECT_CONSUMERS' | 'ARCHIVE_DEFAULT'>;
  /** Null if messages are removed without an archive. */
  readonly archive: ArchiveStore | null;
  readonly clock: Clock;
  /** How long late writes can arrive after a deletion. */
  readonly lateWritesMs: number;
  readonly teamPeriods: TeamPeriods;
  readonly retentionDays: RetentionDays;
  /** Retention of the audit log. */
  readonly auditRetentionMs: number;
  readonly makeId: MakeId;
  /** Records the worker's actions. */
  readonly audit: Audit;
  /** Returns the store's time; null if the store has no clock. */
  readonly storeTime: () => Promise<number | null>;
  readonly throttle: SweepThrottle;
  readonly metrics: RetentionMetrics;
  readonly log: Logger;
}

/** A sweep stops between batches at this time or when the signal is aborted. */
export interface SweepLimit {
  readonly endsAt: number;
  readonly closing: AbortSignal;
}

export interface SweepReport {
  /** The number of removed items. */
  readonly removed: number;
  /** Whether it ran out of time before it completed. */
  readonly hasMore: boolean;
}

export function isOver(deps: Pick<RetentionDeps, 'clock'>, limit: SweepLimit): boolean {
  return limit.closing.aborted || deps.clock() >= limit.endsAt;
}
