import { randomBytes, randomUUID } from 'node:crypto';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { MongoClient } from 'mongodb';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { loadConfig } from '@tocsin/shared/platform/load-config.ts';
import { newPushToken } from '@tocsin/shared/testing/builders.ts';
import { describeWithEngines, type TestEngines } from '@tocsin/shared/testing/describe-with-engines.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { removeInstallation } from '@tocsin/shared/testing/remove-installation.ts';
import { startExpoSimulator } from '@tocsin/simulators/expo-simulator.ts';
import { freePorts } from '../../tools/engines/free-ports.ts';
import { ServerProcess } from '../../tools/stack/server-process.ts';
import { startClusterStack, type Stack } from '../../tools/stack/start-stack.ts';
import { accessTokenOf, createAccount, createTopic, openStackDocuments, type Account } from '../support/stack.ts';
import { printMeasurements } from '@tocsin/shared/testing/figures.ts';
import { runTocsin } from './run-tocsin.ts';

/** Messages before the backup, and as many after it. */
const messageCount = Number(process.env['TOCSIN_RESTORE_MESSAGES'] ?? 300);
const atOnce = 25;
const changesOfEach = 20;
const patience = { timeoutMs: 60_000 };

interface Place {
  readonly stack: Stack;
  readonly dir: string;
  readonly account: Account;
  readonly topics: readonly string[];
}

let own: Closers;
beforeEach(() => {
  own = closers();
});
afterEach(() => own.closeAll(), 60_000);

async function startPlace(engines: TestEngines, expoUrl: string): Promise<Place> {
  const dir = mkdtempSync(join(tmpdir(), 'tocsin-restored-'));
  own.add(() => rmSync(dir, { recursive: true }));
  const run = randomBytes(4).toString('hex');
  const mongoUrl = new URL(engines.mongoUrl);
  mongoUrl.pathname = `/tocsin_${run}`;
  const stack = await startClusterStack({
    dir,
    layout: 'single',
    kafkaBrokers: engines.kafkaBrokers,
    mongoUrl: mongoUrl.href,
    redisUrl: engines.redisUrl,
    jwtSecret: randomBytes(32).toString('hex'),
    env: { KAFKA_TOPIC: `tocsin.${run}`, KAFKA_PARTITIONS: '4', RATE_LIMITS: 'off', EXPO_URL: expoUrl },
  });
  own.add(() => removeInstallation(loadConfig({ ...stack.env }, '/nonexistent')));
  own.add(() => stack.stop());
  const store = await openStackDocuments(stack);
  const account = await createAccount(store, { tier: 'TEAM', urls: stack.urls });
  await store.close();
  const topics = await Promise.all(Array.from({ length: 4 }, async () => (await createTopic(account)).name));
  return { stack, dir, account, topics };
}

/** Publishes to the topics alternately. Resolves with the IDs in that order. */
async function publish({ account, topics }: Place, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n += atOnce) {
    ids.push(
      ...(await Promise.all(
        Array.from({ length: Math.min(atOnce, count - n) }, async (_, index) => {
          const { status, body } = await account.client.call('POST', `/${topics[(n + index) % topics.length]}`, {
            text: `message ${n + index} of ${randomUUID()}`,
          });
          expect(status).toBe(200);
          return body.id as string;
        }),
      )),
    );
  }
  return ids;
}

/** Edits the first messages and deletes as many after them. */
async function change({ account, topics }: Place, ids: readonly string[]): Promise<void> {
  for (const [index, id] of ids.slice(0, 2 * changesOfEach).entries()) {
    const path = `/api/${topics[index % topics.length]}/messages/${id}`;
    const isEdit = index < changesOfEach;
    const { status } = await account.client.call(
      isEdit ? 'PATCH' : 'DELETE',
      path,
      isEdit ? { json: { message: `edited ${index}` } } : {},
    );
    expect(status).toBe(200);
  }
}

/** What readers see: every record of the topics' logs and their message counts. */
async function view({ account, topics }: Place) {
  return Promise.all(
    topics.map(async (topic) => {
      const records: { offset: number; type: string; message: object }[] = [];
      let next = 0;
      for (let length = 1; length > 0;) {
        const { body } = await account.client.call('GET', `/api/topics/${topic}/log?from_offset=${next}&limit=1000`);
        length = body.records.length as number;
        records.push(...body.records);
        next = body.next_offset as number;
      }
      const { body } = await account.client.call('GET', `/api/topics/${topic}`);
      return { topic, records, next, messageCount: body.message_count as number };
    }),
  );
}

async function dropDatabase({ env }: Stack): Promise<void> {
  const client = await MongoClient.connect(env['MONGO_URL']!);
  await client.db().dropDatabase();
  await client.close();
}

/** Runs only the fan-out until it is idle, as in docs/cluster.md. */
async function catchUp({ stack, dir }: Place): Promise<{ lagAtFirst: number; ms: number }> {
  const [port] = await freePorts(1);
  const fanOut = new ServerProcess({
    name: 'fanout',
    args: ['services/fanout/main.ts'],
    env: { ...stack.env, METRICS_PORT: String(port) },
    logFile: join(dir, 'fanout.log'),
  });
  own.add(() => fanOut.kill());
  const begunAt = performance.now();
  await fanOut.start();
  const lag = async () =>
    Number(
      /^tocsin_fanout_lag_records (\S+)$/m.exec(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text())?.[1],
    );
  const lagAtFirst = await lag();
  await eventually(async () => expect(await lag()).toBe(0), patience);
  const ms = performance.now() - begunAt;
  expect(await fanOut.stop()).toBe(0);
  return { lagAtFirst, ms };
}

describeWithEngines('a cluster', (engines) => {
  test('whose store is restored from an older backup recovers later records from the log and does not push them again', async () => {
    const expo = await startExpoSimulator();
    own.add(() => expo.close());
    const place = await startPlace(engines, expo.url);
    const { stack, account, dir, topics } = place;
    const token = newPushToken.expo();
    const device = await account.client.call('POST', '/api/devices/register', {
      json: { push_token: token, platform: 'expo', device_id: randomUUID() },
    });
    expect(device.status).toBe(201);
    for (const topic of topics)
      expect((await account.client.call('POST', '/api/subscriptions', { json: { topic_name: topic } })).status).toBe(
        201,
      );
    const pushed = () => new Set(expo.pushes.map(({ messageId }) => messageId));

    const before = await publish(place, messageCount);
    await eventually(() => expect(pushed().size).toBe(messageCount), patience);
    const file = join(dir, 'backup');
    // The backup runs during publishes.
    const [made, first] = await Promise.all([
      runTocsin(['backup', file, '--json'], stack.env),
      publish(place, messageCount / 2),
    ]);
    expect(made).toMatchObject({ code: 0, err: expect.stringContaining('100 % of') });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect((await runTocsin(['backup', file], stack.env)).err).toBe(
      `${file} already exists: move it, or choose another path\n`,
    );
    const after = [...first, ...(await publish(place, messageCount / 2))];
    await eventually(() => expect(pushed().size).toBe(2 * messageCount), patience);
    await change(place, before);
    await change(place, first);
    // Pushes of edits and deletions replace the notification on the phone.
    await eventually(() => expect(expo.pushes.length).toBe(2 * messageCount + 4 * changesOfEach), patience);
    const seen = await view(place);
    const pushesBefore = expo.pushes.length;

    expect((await runTocsin(['restore', file], stack.env)).err).toContain('is not empty (it has ');
    await stack.server('tocsin').stop();
    await dropDatabase(stack);
    const cut = join(dir, 'cut');
    writeFileSync(cut, readFileSync(file).subarray(0, -100));
    expect((await runTocsin(['restore', cut], stack.env)).err).toBe(`${cut} is truncated: use another backup\n`);
    appendFileSync(cut, randomBytes(100));
    expect((await runTocsin(['restore', cut], stack.env)).code).toBe(1);
    expect(await runTocsin(['restore', file], stack.env)).toMatchObject({
      code: 0,
      err: expect.stringContaining('100 % of'),
    });

    const caughtUp = await catchUp(place);
    await stack.server('tocsin').start();
    await eventually(async () => expect(await view(place)).toEqual(seen), patience);
    expect(await accessTokenOf(account, stack.urls)).toEqual(expect.any(String));
    // Earlier cursors and offsets continue.
    const [fresh] = await publish(place, 1);
    await eventually(async () => {
      const { body } = await account.client.call('GET', `/api/topics/${topics[0]}/log?from_offset=${seen[0]!.next}`);
      expect((body.records as { message: { id: string } }[]).map(({ message }) => message.id)).toEqual([fresh]);
    }, patience);
    await eventually(() => expect(pushed().has(fresh)).toBe(true), patience);
    const again = expo.pushes.slice(pushesBefore).filter(({ messageId }) => messageId !== fresh);
    expect(again).toEqual([]);

    // The ledger has the age of the backup.
    const ledgerOf = async (id: string, topic: string) => {
      const { body } = await account.client.call('GET', `/api/messages/${id}/deliveries`);
      return { topic, statuses: (body.deliveries as { status: string }[]).map(({ status }) => status) };
    };
    const known = await ledgerOf(before.at(-1)!, topics[0]!);
    const unknown = await ledgerOf(after.at(-1)!, topics[0]!);
    printMeasurements('restored cluster', {
      messages: 2 * messageCount,
      bytes: statSync(file).size,
      lagAtFirst: caughtUp.lagAtFirst,
      catchUpMs: caughtUp.ms,
      pushedTwice: again.length,
      ledgerBefore: known.statuses.join(),
      ledgerAfter: unknown.statuses.join(),
    });
    expect(known.statuses).toEqual(['sent']);
  }, 240_000);
});
