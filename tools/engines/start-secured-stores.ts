import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoClient, type Document } from 'mongodb';
import { makeCertificate } from '../clients/make-certificate.ts';
import type { Engine } from './engine.ts';
import { isPrimary, replicaSet } from './mongo-replica-set.ts';
import { startMongo } from './start-mongo.ts';
import { startRedis } from './start-redis.ts';
import { startConcurrently, stopConcurrently } from './start-concurrently.ts';

/** A MongoDB and a Redis that require TLS and authentication. */
export type SecuredStores = {
  /** URLs with user and password; MongoDB's URL also names the certificate file. */
  readonly mongo: Engine;
  readonly redis: Engine;
  /** The certificate of both, in PEM. A Redis URL cannot name it. */
  readonly caFile: string;
  /** Stops both and removes their state and certificate. */
  stop(): Promise<void>;
};

const username = 'tocsin';
const database = 'tocsin';

/**
 * Starts both with a new certificate and a user with only the rights that Tocsin needs: in MongoDB, to read and write
 * its database.
 */
export const startSecuredStores = async (): Promise<SecuredStores> => {
  const dir = mkdtempSync(join(tmpdir(), 'tocsin-stores-tls-'));
  const remove = () => rmSync(dir, { recursive: true, force: true });
  try {
    const { keyFile, certificateFile: caFile } = await makeCertificate(dir);
    const password = randomBytes(12).toString('hex');
    const [mongo, redis] = await startConcurrently<[Engine, Engine]>([
      securedMongo({ dir, caFile, keyFile, password }),
      securedRedis({ caFile, keyFile, password }),
    ]);
    const stop = async () => {
      await stopConcurrently([mongo, redis]);
      remove();
    };
    return { mongo, redis, caFile, stop };
  } catch (error) {
    remove();
    throw error;
  }
};

type Secret = { caFile: string; keyFile: string; password: string };

const securedMongo = ({ dir, caFile, keyFile, password }: Secret & { dir: string }): Promise<Engine> => {
  const both = join(dir, 'mongo.pem');
  writeFileSync(both, readFileSync(caFile, 'utf8') + readFileSync(keyFile, 'utf8'), { mode: 0o600 });
  const members = join(dir, 'members.key');
  writeFileSync(members, randomBytes(96).toString('base64'), { mode: 0o600 });
  const tls = { tls: true, tlsCAFile: caFile };
  const tlsQuery = `directConnection=true&replicaSet=${replicaSet}&authSource=admin&tls=true&tlsCAFile=${encodeURIComponent(caFile)}`;
  const urlOf = (address: string, who = username) => `mongodb://${who}:${password}@${address}/${database}?${tlsQuery}`;
  return startMongo({
    args: [
      '--tlsMode',
      'requireTLS',
      '--tlsCertificateKeyFile',
      both,
      '--tlsCAFile',
      caFile,
      '--tlsAllowConnectionsWithoutCertificates',
      '--auth',
      '--keyFile',
      members,
    ],
    urlOf: (address) => urlOf(address),
    async answers(address) {
      if (!(await isPrimary(address, address, tls))) return false;
      const admin = { createUser: 'admin', pwd: password, roles: [{ role: 'userAdminAnyDatabase', db: 'admin' }] };
      const user = { createUser: username, pwd: password, roles: [{ role: 'readWrite', db: database }] };
      // MongoDB's localhost exception allows creating the first user without authentication.
      await commanding(`mongodb://${address}/?${tlsQuery}`, admin).catch(() => undefined);
      await commanding(urlOf(address, 'admin'), user).catch(() => undefined);
      await commanding(urlOf(address), { connectionStatus: 1 });
      return true;
    },
  });
};

const commanding = async (url: string, command: Document): Promise<void> => {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 2_000 });
  try {
    await client.db('admin').command(command);
  } finally {
    await client.close();
  }
};

const securedRedis = ({ caFile, keyFile, password }: Secret): Promise<Engine> =>
  startRedis({
    ca: readFileSync(caFile, 'utf8'),
    args: (port) => [
      ...[
        '--tls-port',
        String(port),
        '--tls-cert-file',
        caFile,
        '--tls-key-file',
        keyFile,
        '--tls-ca-cert-file',
        caFile,
        '--tls-auth-clients',
        'no',
      ],
      ...['--user', 'default', 'off', '--user', username, 'on', `>${password}`, '~*', '&*', '+@all'],
    ],
    urlOf: (address) => `rediss://${username}:${password}@${address}`,
  });
