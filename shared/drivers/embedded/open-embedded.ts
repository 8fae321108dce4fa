import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { VapidKeys } from '../../domain/push/vapid-keys.ts';
import type { Engine } from '../../ports/engine.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Finding } from '../../platform/finding.ts';
import { withClosers } from '../../platform/lifecycle.ts';
import type { Logger } from '../../platform/logger.ts';
import type { CopyProgress, CopyReport } from '../../ports/backup.ts';
import type { AnyCollection } from '../../ports/document-checks.ts';
import type { RecipientCollections } from '../../ports/deliveries.ts';
import type { Documents } from '../../ports/documents.ts';
import type { InstallationRows } from '../../ports/installation-rows.ts';
import type { JobQueue } from '../../ports/job-queue.ts';
import type { Messages } from '../../ports/messages/messages.ts';
import { budgetsMigration } from './bus/budget-table.ts';
import { consumerOffsetsMigration } from './log/consumer-offsets.ts';
import { copyStore } from './transfer/copy-store.ts';
import { inspectDataDir } from './data-dir/inspect-data-dir.ts';
import { jobsMigration } from './jobs/job-table.ts';
import { generatedSecrets, generatedVapidKeys } from './data-dir/generated-secrets.ts';
import { lockDataDir } from './data-dir/lock-data-dir.ts';
import { continueLogAfterCopy } from './transfer/log-after-copy.ts';
import { openMemoryBus } from './bus/memory-bus.ts';
import { migrate, type Migration } from './sqlite/migrations.ts';
import { requireNoImport, sqliteInstallationRows, lockInstallation } from './transfer/sqlite-installation-rows.ts';
import { openSqliteDeliveries } from './deliveries/sqlite-deliveries.ts';
import { deliveriesMigration } from './deliveries/sqlite-deliveries-migration.ts';
import { openSqliteDocuments } from './documents/sqlite-documents.ts';
import { openSqliteEventLog } from './log/sqlite-event-log.ts';
import { SqliteFile } from './sqlite/sqlite-file.ts';
import { openSqliteJobQueue } from './jobs/sqlite-job-queue.ts';
import {
  lostRecordsMigration,
  messageExtrasMigration,
  messagePlainMigration,
  messageSearchMigration,
  messagesMigration,
} from './messages/sqlite-message-schema.ts';
import { openSqliteMessages } from './messages/sqlite-messages.ts';

/**
 * The migrations of the file. Only append new ones. Tables of collections follow their declarations; a change of these
 * appends an empty migration, so that an older version refuses the file.
 */
const migrations: readonly Migration[] = [
  messagesMigration,
  consumerOffsetsMigration,
  budgetsMigration,
  jobsMigration,
  deliveriesMigration,
  messageSearchMigration,
  messagePlainMigration,
  { name: 'registrations, address changes, known networks, login sessions and audit entries', sql: '' },
  { name: 'browsers as devices, and the recipients by both flags', sql: '' },
  messageExtrasMigration,
  lostRecordsMigration,
  { name: 'retry times of sinks', sql: '' },
];

const fileName = 'tocsin.db';

/** Checks the directory and the file; a server may run. */
export const inspectEmbedded = (dataDir: string): Finding[] =>
  inspectDataDir(dataDir, { fileName, schemaVersion: migrations.length });

export interface EmbeddedOptions {
  readonly dataDir: string;
  readonly collections: readonly AnyCollection[];
  /** The collections that the recipients query reads. */
  readonly recipients: RecipientCollections;
  /** Undefined to generate a secret and store it in the data directory. */
  readonly jwtSecrets: readonly string[] | undefined;
  /** As above. */
  readonly vapidKeys: VapidKeys | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Opens the engine on one SQLite file, exclusively for this process. Throws DataDirInUse if another Tocsin uses the
 * directory, and an Error if the file was written by a newer version.
 *
 * Log record and message are written in one transaction: the event log uses the message store's table.
 */
export function openEmbedded(options: EmbeddedOptions): Promise<Engine> {
  const { dataDir, clock, log } = options;
  return withClosers(async (own) => {
    own.add(lockDataDir(dataDir));
    requireNoImport(dataDir);
    const file = new SqliteFile(join(dataDir, fileName));
    own.add(() => file.close());
    migrate(file, migrations);
    continueLogAfterCopy(file.db, { clock, log });
    const messages = openSqliteMessages({ file, clock });
    own.add(() => messages.close());
    const documents = openSqliteDocuments({ file, collections: options.collections });
    own.add(() => documents.close());
    const deliveries = openSqliteDeliveries({ file, ...options.recipients });
    own.add(() => deliveries.close());
    const bus = openMemoryBus({ clock, budgetFile: file, log });
    own.add(() => bus.close());
    const eventLog = openSqliteEventLog({ file, table: messages, log });
    own.add(() => eventLog.close());
    const jobQueue = openSqliteJobQueue({ file, clock, log });
    own.add(() => jobQueue.close());
    return {
      kind: 'embedded',
      eventLog,
      messages,
      documents,
      deliveries,
      bus,
      jobQueue,
      storage: { changeStamp: documents.changeStamp, reclaimSpace: messages.reclaimSpace },
      jwtSecrets: options.jwtSecrets ?? [generatedSecrets.jwt.readOrCreate(dataDir)],
      vapidKeys: options.vapidKeys ?? generatedVapidKeys(dataDir),
      close: () => own.closeAll(),
    };
  });
}

/**
 * Opens the documents, and on request the jobs and messages, for the command line. A server may run on the same
 * directory.
 */
export function openEmbeddedDocuments(
  options: Pick<EmbeddedOptions, 'dataDir' | 'collections' | 'clock' | 'log'>,
): Promise<{
  documents: Documents;
  openJobQueue: () => Promise<JobQueue>;
  openMessages: () => Promise<Messages>;
  close(): Promise<void>;
}> {
  return withClosers(async (own) => {
    const file = new SqliteFile(join(options.dataDir, fileName));
    own.add(() => file.close());
    migrate(file, migrations);
    const documents = openSqliteDocuments({ file, collections: options.collections });
    own.add(() => documents.close());
    const openJobQueue = async (): Promise<JobQueue> => {
      const jobQueue = openSqliteJobQueue({ file, clock: options.clock, log: options.log });
      own.add(() => jobQueue.close());
      return jobQueue;
    };
    const openMessages = async (): Promise<Messages> => {
      const messages = openSqliteMessages({ file, clock: options.clock });
      own.add(() => messages.close());
      return messages;
    };
    return { documents, openJobQueue, openMessages, close: () => own.closeAll() };
  });
}

/** Backs up the directory's file to `to`; a server may run. See copyStore. */
export function backUpEmbedded(
  dataDir: string,
  to: string,
  onProgress: (progress: CopyProgress) => void,
): Promise<CopyReport> {
  return copyStore({ from: join(dataDir, fileName), to, onProgress });
}

/**
 * Restores the directory's file from a backup, which stays unchanged. Throws DataDirInUse while a server uses the
 * directory, and an error for the operator if the file already exists.
 */
export async function restoreEmbedded(
  dataDir: string,
  from: string,
  onProgress: (progress: CopyProgress) => void,
): Promise<CopyReport> {
  const unlock = lockDataDir(dataDir);
  try {
    return await copyStore({ from, to: join(dataDir, fileName), schemaVersionMax: migrations.length, onProgress });
  } finally {
    unlock();
  }
}

/**
 * Opens the file as rows. An export reads a snapshot, and a server may run. An import creates a missing directory and
 * throws DataDirInUse while a server runs.
 */
export function openEmbeddedRows({
  dataDir,
  collections,
  purpose,
}: Pick<EmbeddedOptions, 'dataDir' | 'collections'> & { purpose: 'export' | 'import' }): Promise<InstallationRows> {
  return withClosers(async (own) => {
    const path = join(dataDir, fileName);
    if (purpose === 'export' && !existsSync(path))
      throw new Error(`${path} does not exist: set DATA_DIR to the directory of the installation`);
    const free = lockInstallation(dataDir, purpose);
    if (free !== null) own.add(free);
    const file = new SqliteFile(path);
    own.add(() => file.close());
    migrate(file, migrations);
    openSqliteDocuments({ file, collections }); // creates their tables
    if (purpose === 'export') {
      // From now on, this connection reads the snapshot of its first read.
      file.db.exec('BEGIN; SELECT position FROM log_end');
      own.add(() => file.db.exec('COMMIT'));
    }
    return sqliteInstallationRows({ file, collections, dataDir, isShared: free === null, close: () => own.closeAll() });
  });
}
