import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { MongoClient } from 'mongodb';
import type { TestPlace } from '@tocsin/shared/testing/test-engine.ts';

/** The size of a table or collection, with its indexes, in bytes. */
export type StoredBytes = Readonly<Record<string, number>>;

/** Measures the ledger and the audit log in the store while servers use it. */
export interface LedgerStore {
  /** The number of rows in the ledger. */
  count(): Promise<number>;
  /** The bytes of each table and index, by name. */
  bytes(): Promise<StoredBytes>;
  /** Operations on the ledger and the audit log since the start; null if the store does not count them. */
  operations(): Promise<number | null>;
  close(): Promise<void>;
}

const ledger = 'deliveries';
const measured = [ledger, 'auditEntries', 'auditOrigins'];

export async function openLedgerStore({ config }: TestPlace): Promise<LedgerStore> {
  return config.cluster === undefined ? openFile(config.DATA_DIR) : openMongo(config.cluster.mongoUrl);
}

function openFile(dataDir: string): LedgerStore {
  const db = new DatabaseSync(join(dataDir, 'tocsin.db'), { readOnly: true });
  return {
    count: async () => Number(db.prepare('SELECT count(*) AS count FROM deliveries').get()!['count']),
    bytes: async () => {
      const sizes = db
        .prepare(
          `SELECT b.name, sum(b.pgsize) AS bytes FROM dbstat b JOIN sqlite_schema s ON s.name = b.name
          WHERE s.tbl_name = 'deliveries' OR s.tbl_name LIKE '%audit%' GROUP BY b.name`,
        )
        .all();
      return Object.fromEntries(sizes.map(({ name, bytes }) => [String(name), Number(bytes)]));
    },
    operations: async () => null,
    close: async () => db.close(),
  };
}

async function openMongo(url: string): Promise<LedgerStore> {
  const client = await MongoClient.connect(url);
  const statsOf = async (name: string, stats: object) =>
    (
      await client
        .db()
        .collection(name)
        .aggregate([{ $collStats: stats }])
        .toArray()
    )[0]!;
  return {
    count: () => client.db().collection(ledger).countDocuments(),
    bytes: async () => {
      const sizes: Record<string, number> = {};
      for (const name of measured) {
        const { storageStats } = await statsOf(name, { storageStats: {} });
        sizes[name] = storageStats.size; // uncompressed
        sizes[`${name} stored`] = storageStats.storageSize;
        for (const [index, bytes] of Object.entries(storageStats.indexSizes as Record<string, number>))
          sizes[`${name}.${index}`] = bytes;
      }
      return sizes;
    },
    operations: async () => {
      let operations = 0;
      for (const name of measured) {
        const { latencyStats } = await statsOf(name, { latencyStats: {} });
        operations += latencyStats.reads.ops + latencyStats.writes.ops;
      }
      return operations;
    },
    close: () => client.close(),
  };
}
