import { randomUUID } from 'node:crypto';
import type { Connection } from 'mongoose';
import { closers } from '../../../platform/lifecycle.ts';
import { openLogger } from '../../../platform/logger.ts';
import { cuttableLink, type CuttableLink } from '../../../testing/cuttable-link.ts';
import { whenAvailable } from '../../../testing/when-available.ts';
import { openMongo } from './mongo-connection.ts';

/** A unique database on the shared server, for a test. */
export interface MongoTestDatabase {
  readonly url: string;
  /** Opens a separate connection, like another process; closed with the database. */
  connect(): Promise<Connection>;
  /** Resolves with a link to the server, and the address of the database over it. The caller closes the link. */
  openLink(): Promise<{ readonly link: CuttableLink; readonly url: string }>;
  /** Closes the connections and removes the database. */
  drop(): Promise<void>;
}

export function mongoTestDatabase(mongoUrl: string, purpose: string): MongoTestDatabase {
  const name = `test-${purpose}-${randomUUID()}`;
  const url = new URL(mongoUrl);
  url.pathname = `/${name}`;
  url.searchParams.set('appName', name);
  const own = closers();
  const connect = async () => {
    const connection = await whenAvailable(() => openMongo(url.href, { log: openLogger('test', 'silent') }));
    own.add(() => connection.close());
    return connection;
  };
  return {
    url: url.href,
    connect,
    openLink: async () => {
      const link = await cuttableLink({ host: url.hostname, port: Number(url.port || 27_017) });
      const over = new URL(url);
      over.host = `127.0.0.1:${link.port}`;
      return { link, url: over.href };
    },
    drop: async () => {
      const connection = await connect();
      await endSessions(connection, name);
      await connection.dropDatabase();
      await own.closeAll();
    },
  };
}

/** Ends the transactions of killed processes, which stay open for a minute and prevent dropping their collections. */
async function endSessions(connection: Connection, appName: string): Promise<void> {
  const admin = connection.getClient().db('admin');
  const sessions = await admin
    .aggregate([{ $currentOp: { allUsers: true, idleSessions: true } }, { $match: { appName, type: 'idleSession' } }], {
      readConcern: { level: 'local' },
    })
    .toArray();
  // Do not send an empty list: it would end every session of the server, including those of other tests.
  if (sessions.length === 0) return;
  await admin.command({ killSessions: sessions.map(({ lsid }: { lsid?: { id: unknown } }) => ({ id: lsid?.id })) });
}
