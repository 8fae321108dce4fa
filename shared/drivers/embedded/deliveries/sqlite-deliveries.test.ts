import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { closers } from '../../../platform/lifecycle.ts';
import { deliveriesContract } from '../../../contracts/deliveries/deliveries.contract.ts';
import { useLedger } from '../../../contracts/deliveries/use-ledger.ts';
import { devices } from '../../../collections/devices-collection.ts';
import { subscriptions } from '../../../collections/subscriptions-collection.ts';
import { migrate } from '../sqlite/migrations.ts';
import { openSqliteDeliveries } from './sqlite-deliveries.ts';
import { deliveriesMigration } from './sqlite-deliveries-migration.ts';
import { openSqliteDocuments } from '../documents/sqlite-documents.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';

const urlOf = (relative: string) => JSON.stringify(new URL(relative, import.meta.url).href);

deliveriesContract('SQLite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tocsin-deliveries-'));
  const path = join(folder, 'tocsin.db');
  const own = closers();
  own.add(() => rmSync(folder, { recursive: true }));
  return {
    open: async () => {
      const file = new SqliteFile(path);
      own.add(() => file.close());
      migrate(file, [deliveriesMigration]);
      const documents = openSqliteDocuments({ file, collections: [subscriptions, devices] });
      return { documents, deliveries: openSqliteDeliveries({ file, subscriptions, devices }) };
    },
    childCode: `
      const { SqliteFile } = await import(${urlOf('../sqlite/sqlite-file.ts')});
      const { openSqliteDeliveries } = await import(${urlOf('./sqlite-deliveries.ts')});
      const { subscriptions } = await import(${urlOf('../../../collections/subscriptions-collection.ts')});
      const { devices } = await import(${urlOf('../../../collections/devices-collection.ts')});
      const deliveries = openSqliteDeliveries({ file: new SqliteFile(${JSON.stringify(path)}), subscriptions, devices });`,
    close: () => own.closeAll(),
  };
});

test('every statement on the ledger uses an index, and every index is used', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tocsin-deliveries-'));
  const file = new SqliteFile(join(folder, 'tocsin.db'));
  try {
    migrate(file, [deliveriesMigration]);
    openSqliteDocuments({ file, collections: [subscriptions, devices] });
    const prepared = new Set<string>();
    const db = new Proxy(file.db, {
      get: (target, name) => (sql: string) => (
        name === 'prepare' && prepared.add(sql),
        (target[name as 'prepare'] as (sql: string) => unknown).call(target, sql)
      ),
    });
    const recording = Object.assign(Object.create(file) as SqliteFile, {
      db,
      writeBulk: (work: () => unknown) => file.writeBulk(work),
    });
    await useLedger(openSqliteDeliveries({ file: recording, subscriptions, devices }));
    const steps = [...prepared].flatMap((sql) =>
      file.db
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .map(({ detail }) => String(detail)),
    );
    const onLedger = steps.filter((step) => / deliveries( |$)/.test(step));
    expect(onLedger.filter((step) => step.startsWith('SCAN'))).toEqual([]);
    const indexes = file.db
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'deliveries' AND sql IS NOT NULL")
      .all();
    expect(indexes.length).toBeGreaterThan(0);
    expect(indexes.filter(({ name }) => !onLedger.some((step) => step.includes(String(name))))).toEqual([]);
  } finally {
    file.close();
    rmSync(folder, { recursive: true });
  }
});
