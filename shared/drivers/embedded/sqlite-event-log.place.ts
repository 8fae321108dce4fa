import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LogRecord, PlacedRecord } from '../../domain/log-record.ts';
import { openLog } from '../../platform/log.ts';
import type { EventLogPlace } from '../../ports/event-log.contract.ts';
import type { EventLog } from '../../ports/event-log.ts';
import { consumerPositionsMigration } from './consumer-positions.ts';
import { migrate } from './migrations.ts';
import type { RecordTable } from './record-table.ts';
import { openSqliteEventLog } from './sqlite-event-log.ts';
import { SqliteFile } from './sqlite-file.ts';

/** A fresh directory for a log's file. */
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
  const log = openSqliteEventLog({ file, table: testRecordTable(file), log: openLog('test', 'silent') });
  const closeLog = log.close.bind(log);
  log.close = async () => {
    await closeLog();
    file.close();
  };
  return Promise.resolve(log);
}

export const testMigrations = [
  consumerPositionsMigration,
  { name: 'records', sql: 'CREATE TABLE records (offset INTEGER PRIMARY KEY AUTOINCREMENT, record TEXT NOT NULL) STRICT' },
];

/** The least that can be called a record table: a row of JSON for each. */
export function testRecordTable(file: SqliteFile): RecordTable {
  const insert = file.db.prepare('INSERT INTO records (offset, record) VALUES (?, ?)');
  const select = file.db.prepare('SELECT offset, record FROM records WHERE offset >= ? ORDER BY offset LIMIT ?');
  const sequence = file.db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'records'");
  return {
    applySync: (records: readonly PlacedRecord[]) => {
      for (const { offset, record } of records) insert.run(offset, JSON.stringify(record));
    },
    readFrom: (offset, limit) =>
      select.all(offset, limit).map((row) => ({ partition: 0, offset: Number(row.offset), record: JSON.parse(String(row.record)) as LogRecord })),
    end: () => Number(sequence.get()?.seq ?? -1) + 1,
  };
}
