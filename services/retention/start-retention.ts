import { Registry } from 'prom-client';
import { openArchiveStore } from '@tocsin/shared/open-archive-store.ts';
import { retentionQueue } from '@tocsin/shared/domain/retention/retention-job.ts';
import { retentionDaysOf } from '@tocsin/shared/domain/accounts/tiers.ts';
import { teamPeriodsOf } from '@tocsin/shared/domain/teams/team-lifecycle.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import { randomId } from '@tocsin/shared/platform/ids.ts';
import { withClosers } from '@tocsin/shared/platform/lifecycle.ts';
import type { Config } from '@tocsin/shared/platform/load-config.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import { readSchedule } from '@tocsin/shared/platform/read-schedule.ts';
import { auditBy, bySystem } from '@tocsin/shared/collections/audit-log.ts';
import { lateWritesMsOf } from '@tocsin/shared/collections/topic-cleanups.ts';
import { sweepThrottle } from './sweep/sweep-throttle.ts';
import { showConsumerLag, showSinkLag } from './sweep/show-lags.ts';
import { retentionMetrics } from './sweep/retention-metrics.ts';
import { runRetentionJob } from './run-retention-job.ts';
import { sweeps } from './sweeps.ts';

export interface RetentionOptions {
  readonly engine: Engine;
  readonly config: Pick<
    Config,
    | 'RETENTION_DAYS_FREE'
    | 'RETENTION_DAYS_ESSENTIALS'
    | 'RETENTION_DAYS_TEAM'
    | 'RETENTION_SCHEDULE'
    | 'RETENTION_PROTECT_CONSUMERS'
    | 'ERASURE_SETTLE_SECONDS'
    | 'TEAM_GRACE_DAYS'
    | 'TEAM_REMOVAL_DAYS'
    | 'AUDIT_RETENTION_DAYS'
    | 'RATE_LIMITS'
    | 'ARCHIVE_DEFAULT'
    | 'archive'
  >;
  readonly log: Logger;
  readonly clock: Clock;
  readonly metrics?: Registry;
  /** The store's clock; by default read from the store. */
  readonly storeTime?: () => Promise<number | null>;
}

/** Allows every sweep to run concurrently with a clean-up, so that clean-ups do not wait for sweeps. */
const concurrency = 4;

/**
 * Starts the retention worker: schedules the sweeps and runs due jobs. Any number of replicas share
 * the work; one of them runs a slot. Throws RangeError for an invalid schedule.
 */
export async function startRetention(options: RetentionOptions): Promise<{ close(): Promise<void> }> {
  const { engine, config, log, clock } = options;
  const every = readSchedule(config.RETENTION_SCHEDULE);
  return withClosers(async (own) => {
    const closing = new AbortController();
    const registry = options.metrics ?? new Registry();
    const metrics = retentionMetrics(registry);
    showConsumerLag(registry, { engine, clock, config });
    showSinkLag(registry, { engine, clock });
    const archive = await openArchiveStore(config);
    if (archive !== null) own.add(() => archive.close());
    const deps = {
      archive,
      engine,
      config,
      log,
      clock,
      metrics,
      makeId: randomId,
      lateWritesMs: lateWritesMsOf(config),
      teamPeriods: teamPeriodsOf(config),
      retentionDays: retentionDaysOf(config),
      auditRetentionMs: Math.round(config.AUDIT_RETENTION_DAYS * 86_400_000),
      audit: auditBy({ makeId: randomId, clock }, bySystem),
      closing: closing.signal,
      running: new Set<string>(),
      throttle: sweepThrottle(engine),
      storeTime: options.storeTime ?? (async () => engine.storage.time?.() ?? null),
    };
    for (const { name } of sweeps) {
      await engine.jobQueue.schedule(retentionQueue, { id: `sweep.${name}`, every, data: { kind: 'sweep', name } });
    }
    const worker = await engine.jobQueue.work(retentionQueue, {
      concurrency,
      run: (job) => runRetentionJob(deps, job),
    });
    own.add(() => worker.close());
    own.add(() => closing.abort());
    return { close: () => own.closeAll() };
  });
}
