import type { TeamPeriods } from '@tocsin/shared/domain/teams/team-lifecycle.ts';
import type { RetentionDays } from '@tocsin/shared/domain/accounts/tiers.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { MakeId } from '@tocsin/shared/platform/ids.ts';
import type { Config } from '@tocsin/shared/platform/load-config.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import type { Audit } from '@tocsin/shared/collections/audit-log.ts';
import type { GiveWay } from './give-way.ts';
import type { RetentionMetrics } from './retention-metrics.ts';

/** What sweeps work with. */
export interface RetentionDeps {
  readonly engine: Pick<Engine, 'messages' | 'deliveries' | 'documents' | 'bus' | 'jobQueue'>;
  readonly config: Pick<Config, 'RATE_LIMITS'>;
  readonly clock: Clock;
  /** How long after a deletion something of what was deleted can still arrive. */
  readonly settleMs: number;
  readonly teamPeriods: TeamPeriods;
  readonly retentionDays: RetentionDays;
  /** How long entries of the audit log are kept. */
  readonly auditRetentionMs: number;
  readonly makeId: MakeId;
  /** Records what the worker does. */
  readonly audit: Audit;
  /** What the store's own clock shows; null where it has none. */
  readonly storeTime: () => Promise<number | null>;
  readonly giveWay: GiveWay;
  readonly metrics: RetentionMetrics;
  readonly log: Logger;
}

/** A sweep stops between two batches at this time or when the signal is aborted, whatever is left. */
export interface SweepLimit {
  readonly endsAt: number;
  readonly closing: AbortSignal;
}

export interface SweepReport {
  /** How many things went. */
  readonly removed: number;
  /** True when the time was over before the work was. */
  readonly hasMore: boolean;
}

export function isOver(deps: Pick<RetentionDeps, 'clock'>, limit: SweepLimit): boolean {
  return limit.closing.aborted || deps.clock() >= limit.endsAt;
}
