import type { Engine } from '@tocsin/shared/ports/engine.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { newId, testAudit } from '@tocsin/shared/testing/builders.ts';
import { Registry } from 'prom-client';
import type { RetentionDeps } from './retention-deps.ts';
import { retentionMetrics } from './retention-metrics.ts';

/** The dependencies to test a sweep alone on an engine. */
export function sweepDeps(engine: Engine, clock: Clock, given: Partial<RetentionDeps['engine']> = {}): RetentionDeps {
  const { messages, deliveries, documents, bus, jobQueue, storage } = engine;
  return {
    engine: { messages, deliveries, documents, bus, jobQueue, storage, ...given },
    clock,
    log: openLogger('test', 'silent'),
    config: { RATE_LIMITS: true, RETENTION_PROTECT_CONSUMERS: false, ARCHIVE_DEFAULT: true },
    archive: null,
    lateWritesMs: 0,
    teamPeriods: { graceMs: 0, removalMs: 0 },
    retentionDays: { FREE: 7, ESSENTIALS: 30, TEAM: 90 },
    makeId: newId,
    audit: testAudit,
    auditRetentionMs: 0,
    storeTime: async () => null,
    throttle: { rest: async () => 0 },
    metrics: retentionMetrics(new Registry()),
  };
}

/** Returns the port with some of its methods replaced. */
export function withMethods<T extends object>(port: T, methods: Partial<T>): T {
  return Object.assign(Object.create(port) as T, methods);
}
