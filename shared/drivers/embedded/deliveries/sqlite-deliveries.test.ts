import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closers } from '../../../platform/lifecycle.ts';
import { deliveriesContract } from '../../../contracts/deliveries/deliveries.contract.ts';
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
