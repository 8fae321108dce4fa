import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { checkAtMost, checkId, documentLimits, planQuery, type AnyCollection } from '../../../ports/document-checks.ts';
import { StaleVersion, UniqueKeyViolation, type Documents } from '../../../ports/documents.ts';
import { countRows, decodeRow, rowOf, rowsFound, rowsOf, type TableAccess } from './sqlite-document-rows.ts';
import { documentTable, prepareTables, withColumns, type DocumentTable } from './sqlite-document-tables.ts';
import { incrementWork, raiseWork, insertWork, removeWork, updateWork, workOf } from './sqlite-document-writes.ts';
import type { StorageFeatures } from '../../../ports/engine.ts';
import type { SqliteFile } from '../sqlite/sqlite-file.ts';
import { statementCache } from '../sqlite/sqlite-statement-cache.ts';
import { sqliteUnavailable } from '../sqlite/sqlite-unavailable.ts';

export type SqliteDocuments = Documents & Required<Pick<StorageFeatures, 'changeStamp'>>;

/**
 * The documents of an embedded installation: one table per collection in the shared file. Creates the tables when
 * opened, see `prepareTables`. Only the given collections can be used. `close` leaves the file open.
 */
export function openSqliteDocuments({
  file,
  collections,
}: {
  file: SqliteFile;
  collections: readonly AnyCollection[];
}): SqliteDocuments {
  const tables = new Map(collections.map((collection) => [collection.name, documentTable(collection)]));
  if (tables.size < collections.length) throw new TypeError('two collections have the same name');
  prepareTables(file.db, [...tables.values()]);
  const tableOf = (collection: { readonly name: string }): DocumentTable => {
    const table = tables.get(collection.name);
    if (table === undefined) throw new TypeError(`the collection ${collection.name} was not opened`);
    return table;
  };
  const access = { statement: statementCache(file.db), tableOf };
  const stamps = new Stamps(file.db);
  const write = <T>(collections: readonly Named[], work: () => unknown, mode?: 'bulk') =>
    writeTogether<T>(
      file,
      () => {
        const value = work();
        stamps.changed(collections);
        return value;
      },
      mode,
    );
  return {
    ...readsOver(access),
    changeStamp: (collections) => stamps.of(collections.map((one) => tableOf(one).collection)),
    insert: async (collection, document) => write([collection], insertWork(access, tableOf(collection), document)),
    update: async (collection, at, set) => write([collection], updateWork(access, tableOf(collection), at, set)),
    increment: async (collection, id, by) => write([collection], incrementWork(access, tableOf(collection), id, by)),
    raise: async (collection, ids, raised) => {
      checkAtMost(ids.length, documentLimits.ids, 'ids');
      for (let at = 0; at === 0 || at < ids.length; at += raisedPerWrite) {
        await write(
          [collection],
          raiseWork(access, tableOf(collection), { ids: ids.slice(at, at + raisedPerWrite), ...raised }),
          'bulk',
        );
      }
    },
    remove: async (collection, id) => write([collection], removeWork(access, tableOf(collection), id)),
    commit: async (writes) => {
      checkAtMost(writes.length, documentLimits.writes, 'writes');
      const works = writes.map((one) => workOf(access, one));
      await write(
        writes.map((one) => one.collection),
        () => runAllOrNone(file, works),
      );
    },
    ping: () => read(() => void file.db.prepare('SELECT 1').get()),
    close: async () => undefined,
  };
}

/** Rows per write, because hundreds of scattered rows would block the event loop and other commits. */
const raisedPerWrite = 100;

type Named = { readonly name: string };

/** Counts writes per collection. Writes of other processes count for all collections. */
class Stamps {
  readonly #dataVersion: StatementSync;
  readonly #writes = new Map<string, number>();
  #version: unknown;

  constructor(db: DatabaseSync) {
    this.#dataVersion = db.prepare('PRAGMA data_version');
  }

  /** Also counts writes that are rolled back, which is harmless. */
  changed(collections: readonly Named[]): void {
    for (const { name } of collections) this.#writes.set(name, (this.#writes.get(name) ?? 0) + 1);
  }

  of(collections: readonly Named[]): string {
    return [this.#currentVersion(), ...collections.map(({ name }) => this.#writes.get(name) ?? 0)].join(' ');
  }

  /** Reads the version once per turn of the event loop, because it costs as much as a small query. */
  #currentVersion(): unknown {
    if (this.#version === undefined) {
      this.#version = this.#dataVersion.get()!['data_version'];
      queueMicrotask(() => (this.#version = undefined));
    }
    return this.#version;
  }
}

/** Reads committed data on the event loop, because it is at most a page of rows. */
async function read<T>(work: () => unknown): Promise<T> {
  try {
    return work() as T;
  } catch (error) {
    throw sqliteUnavailable(error);
  }
}

function readsOver(access: TableAccess): Pick<Documents, 'get' | 'getMany' | 'pick' | 'find' | 'count'> {
  return {
    get: (collection, id) =>
      read(() => {
        const table = access.tableOf(collection);
        checkId(table.collection, id);
        const row = rowOf(access, table, id);
        return row === undefined ? null : decodeRow(table, row);
      }),
    getMany: (collection, ids) =>
      read(() => {
        const table = access.tableOf(collection);
        checkAtMost(ids.length, documentLimits.ids, 'ids');
        for (const id of ids) checkId(table.collection, id);
        return rowsOf(access, table, ids).map((row) => decodeRow(table, row));
      }),
    pick: (collection, ids, fields) =>
      read(() => {
        const table = access.tableOf(collection);
        checkAtMost(ids.length, documentLimits.ids, 'ids');
        for (const id of ids) checkId(table.collection, id);
        const picked = withColumns(table, ['id', ...fields]);
        return rowsOf(access, picked, ids).map((row) => decodeRow(picked, row));
      }),
    find: (collection, query) =>
      read(() => {
        const table = access.tableOf(collection);
        return rowsFound(access, table, planQuery(table.collection, query)).map((row) => decodeRow(table, row));
      }),
    count: (collection, query) =>
      read(() => {
        const table = access.tableOf(collection);
        return countRows(access, table, planQuery(table.collection, query));
      }),
  };
}

/**
 * An expected failure of a write, returned as a value. If thrown, it would roll back and repeat the whole group commit.
 */
type Outcome = { readonly value: unknown } | { readonly failure: UniqueKeyViolation | StaleVersion };

async function writeTogether<T>(file: SqliteFile, work: () => unknown, mode?: 'bulk'): Promise<T> {
  const outcome = await file[mode === 'bulk' ? 'writeBulk' : 'write']<Outcome>(() => {
    try {
      return { value: work() };
    } catch (error) {
      if (error instanceof UniqueKeyViolation || error instanceof StaleVersion) return { failure: error };
      throw error;
    }
  }).catch((error: unknown) => {
    throw sqliteUnavailable(error);
  });
  if ('failure' in outcome) throw outcome.failure;
  return outcome.value as T;
}

/** One commit within the group's transaction. */
function runAllOrNone({ db }: SqliteFile, works: readonly (() => unknown)[]): void {
  db.exec('SAVEPOINT documents_commit');
  try {
    for (const work of works) work();
  } catch (error) {
    // A full disk ends the whole transaction, including the savepoint.
    if (db.isTransaction) db.exec('ROLLBACK TO documents_commit; RELEASE documents_commit');
    throw error;
  }
  db.exec('RELEASE documents_commit');
}
