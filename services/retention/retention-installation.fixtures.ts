import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { newId, newTopic } from '@tocsin/shared/testing/builders.ts';
import { openOwnEngine } from '@tocsin/shared/testing/test-engine.ts';
import { startRetention } from './start-retention.ts';

export const testLog = openLogger('test', process.env['TEST_LOG_LEVEL'] ?? 'silent');
export const retentionConfig = {
  RETENTION_DAYS_FREE: 7,
  RETENTION_DAYS_ESSENTIALS: 30,
  RETENTION_DAYS_TEAM: 90,
  ERASURE_SETTLE_SECONDS: 60,
  TEAM_GRACE_DAYS: 7,
  TEAM_REMOVAL_DAYS: 60,
  AUDIT_RETENTION_DAYS: 365,
  RATE_LIMITS: true,
  RETENTION_PROTECT_CONSUMERS: false,
  ARCHIVE_DEFAULT: true,
  archive: undefined,
};

/** An engine of its own with a clock that tests advance. */
export interface RetentionInstallation {
  readonly engine: Engine;
  /** Closed by `close`, in reverse order. */
  readonly own: Closers;
  clock(): number;
  setAhead(ms: number): void;
  /** Starts the retention service; every second by default. */
  start(schedule?: string): Promise<void>;
  insertTopic(given?: Partial<Topic>): Promise<Topic>;
  close(): Promise<void>;
}

export async function openRetentionInstallation(): Promise<RetentionInstallation> {
  const own = closers();
  let aheadMs = 0;
  const clock = (): number => Date.now() + aheadMs;
  const { engine } = await openOwnEngine(own, clock);
  return {
    engine,
    own,
    clock,
    setAhead(ms) {
      aheadMs = ms;
    },
    async start(schedule = '1s') {
      const retention = await startRetention({
        engine,
        config: { ...retentionConfig, RETENTION_SCHEDULE: schedule },
        log: testLog,
        clock,
        storeTime: async () => clock(),
      });
      own.add(() => retention.close());
    },
    insertTopic: (given = {}) => engine.documents.insert(topics, newTopic(newId(), given)),
    close: () => own.closeAll(),
  };
}
