import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../../platform/clock.ts';
import { openLogger } from '../../../platform/logger.ts';
import type { EventLogPlace } from '../../../contracts/event-log/event-log.contract.ts';
import type { EventLog } from '../../../ports/event-log.ts';
import { consumerOffsetsMigration } from './consumer-offsets.ts';
import { migrate } from '../sqlite/migrations.ts';
import { openSqliteEventLog } from './sqlite-event-log.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';
import { messageMigrations } from '../messages/sqlite-message-schema.ts';
import { openSqliteMessages } from '../messages/sqlite-messages.ts';

/** A new directory for a log's file. */
export function newSqlitePlace(): Promise<EventLogPlace> {
  const directory = mkdtempSync(join(tmpdir(), 'tocsin-log-'));
  const path = join(directory, 'test.db');
  return Promise.resolve({
    open: () => openEventLogAt(path),
    child: { module: fileURLToPath(import.meta.url), address: path },
    hasManyClients: false,
    remove: () => Promise.resolve(rmSync(directory, { recursive: true })),
  });
}

/** Opens the log in the file, and closes the file with it. */
export function openEventLogAt(path: string): Promise<EventLog> {
  const file = new SqliteFile(path);
  migrate(file, testMigrations);
  const log = openSqliteEventLog({
    file,
    table: openSqliteMessages({ file, clock: systemClock }),
    log: openLogger('test', 'silent'),
  });
  const closeLog = log.close.bind(log);
  log.close = async () => {
    await closeLog();
    file.close();
  };
  return Promise.resolve(log);
}

/** The schema of a log. */
export const testMigrations = [...messageMigrations, consumerOffsetsMigration];
