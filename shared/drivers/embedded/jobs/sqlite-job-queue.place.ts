import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock, type Clock } from '../../../platform/clock.ts';
import { openLogger } from '../../../platform/logger.ts';
import type { JobQueuePlace } from '../../../contracts/job-queue/job-queue.contract.ts';
import type { JobQueue } from '../../../ports/job-queue.ts';
import { jobsMigration } from './job-table.ts';
import { migrate } from '../sqlite/migrations.ts';
import { openSqliteJobQueue } from './sqlite-job-queue.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';

/** A new directory for a queue's file. */
export function newSqliteQueuePlace(): Promise<JobQueuePlace> {
  const directory = mkdtempSync(join(tmpdir(), 'tocsin-queue-'));
  const path = join(directory, 'test.db');
  return Promise.resolve({
    open: (clock) => openJobQueueAt(path, clock),
    child: { module: fileURLToPath(import.meta.url), address: path },
    remove: () => Promise.resolve(rmSync(directory, { recursive: true })),
  });
}

/** Opens the queue in the file, and closes the file with it. */
export function openJobQueueAt(path: string, clock: Clock = systemClock): Promise<JobQueue> {
  const file = new SqliteFile(path);
  migrate(file, [jobsMigration]);
  const jobs = openSqliteJobQueue({ file, clock, log: openLogger('test', 'silent') });
  const closeQueue = jobs.close.bind(jobs);
  jobs.close = async () => {
    await closeQueue();
    file.close();
  };
  return Promise.resolve(jobs);
}
