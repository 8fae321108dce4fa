import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { restore } from '@tocsin/shared/installation/back-up.ts';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { loadConfig } from '@tocsin/shared/platform/load-config.ts';
import { readTestEngines } from '@tocsin/shared/testing/read-test-engines.ts';
import { removeInstallation } from '@tocsin/shared/testing/remove-installation.ts';
import type { StoreOwner } from '../../tools/fixtures/fill-store.ts';
import { viewStore } from '../../tools/fixtures/view-store.ts';
import { startClusterStack, startEmbeddedStack, type Stack } from '../../tools/stack/start-stack.ts';
import { Client } from '../support/stack.ts';

const fixtures = join(import.meta.dirname, '../fixtures');
const engine = process.env['TOCSIN_ENGINE'] === 'cluster' ? 'cluster' : 'embedded';
/** Without retention: the ledger in the fixture is older than its retention. */
const env = { ROLES: 'api,fanout,notifier', RATE_LIMITS: 'off', EXPO_URL: 'http://127.0.0.1:9' };

let own: Closers;
beforeEach(() => {
  own = closers();
});
afterEach(() => own.closeAll(), 60_000);

/** The environment of an empty installation, and a function that starts it. */
function newInstallation(dir: string): { env: Record<string, string>; start: () => Promise<Stack> } {
  if (engine === 'embedded')
    return { env: { DATA_DIR: join(dir, 'data') }, start: () => startEmbeddedStack({ dir, env }) };
  const { mongoUrl, ...engines } = readTestEngines()!;
  const run = randomBytes(4).toString('hex');
  const url = new URL(mongoUrl);
  url.pathname = `/tocsin_${run}`;
  const given = { ...engines, mongoUrl: url.href, jwtSecret: randomBytes(32).toString('hex') };
  const topic = { KAFKA_TOPIC: `tocsin.${run}`, KAFKA_PARTITIONS: '2' };
  const configuration = {
    KAFKA_BROKERS: given.kafkaBrokers,
    MONGO_URL: given.mongoUrl,
    REDIS_URL: given.redisUrl,
    JWT_SECRET: given.jwtSecret,
    ...topic,
  };
  own.add(() => removeInstallation(loadConfig(configuration, '/nonexistent')));
  return {
    env: configuration,
    start: () => startClusterStack({ ...given, dir, layout: 'single', env: { ...env, ...topic } }),
  };
}

interface SeenStore {
  readonly '/api/devices/my': { readonly body: readonly object[] };
  readonly '/api/topics/alarms/consumers': { readonly body: readonly object[] };
  readonly '/api/keys': { readonly body: readonly { readonly description: string | null }[] };
}

/**
 * Differences in later versions: a key's description is always a string, a device has its last test push, and the lag
 * of a consumer counts only records that can still be read.
 */
function asShownNow(seen: SeenStore): object {
  const [keys, devices] = [seen['/api/keys'], seen['/api/devices/my']];
  const consumers = seen['/api/topics/alarms/consumers'];
  return {
    ...seen,
    '/api/devices/my': { ...devices, body: devices.body.map((device) => ({ last_test: null, ...device })) },
    '/api/topics/alarms/consumers': {
      ...consumers,
      body: consumers.body.map((consumer) => ({ ...consumer, lag: expect.any(Number) })),
    },
    '/api/keys': { ...keys, body: keys.body.map((key) => ({ ...key, description: key.description ?? '' })) },
  };
}

test.each(readdirSync(fixtures).filter((name) => name.startsWith('store-')))(
  'opens a %s with all of its data unchanged',
  async (name) => {
    const { owner, seen } = JSON.parse(readFileSync(join(fixtures, name, `${engine}.json`), 'utf8')) as {
      owner: StoreOwner;
      seen: SeenStore;
    };
    const dir = mkdtempSync(join(tmpdir(), 'tocsin-earlier-'));
    own.add(() => rmSync(dir, { recursive: true }));
    const backup = join(dir, 'backup');
    writeFileSync(backup, gunzipSync(readFileSync(join(fixtures, name, `${engine}.gz`))));
    const installation = newInstallation(dir);
    await restore(loadConfig(installation.env, '/nonexistent'), backup, () => undefined);
    const { stop, urls } = await installation.start();
    own.add(stop);
    // Later versions add fields and never remove one.
    expect(await viewStore(urls, owner)).toMatchObject(asShownNow(seen));
    expect((await new Client(owner.apiKey, urls).call('GET', `/${owner.topics[0]}/json`)).status).toBe(200);
    const { status, body } = await new Client(owner.topicToken, urls).call('POST', `/${owner.topics[1]}`, {
      text: 'a later version',
    });
    expect({ status, body }).toMatchObject({ status: 200, body: { message: 'a later version' } });
    // Its log is a new one and continues above the offsets in the store.
    expect(body.offset).toBeGreaterThan(1_000_000);
    const log = await new Client(owner.topicToken, urls).call(
      'GET',
      `/api/topics/${owner.topics[1]}/log?from_offset=${body.offset}&wait=10`,
    );
    expect((log.body.records as { message: { id: string } }[]).map(({ message }) => message.id)).toEqual([body.id]);
  },
);
