import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { startEmbeddedStack, type Stack } from '../../tools/stack/start-stack.ts';
import { accessTokenOf, Client, createAccount, createTopic, openStackDocuments } from '../support/stack.ts';
import { printMeasurements } from '@tocsin/shared/testing/figures.ts';
import { keepPublishing } from '../ledger/keep-publishing.ts';
import { runTocsin } from './run-tocsin.ts';

let own: Closers;
beforeEach(() => {
  own = closers();
});
afterEach(() => own.closeAll(), 60_000);

interface LogRecordJson {
  readonly offset: number;
  readonly message: { readonly id: string; readonly message: string };
}

async function logOf(client: Client, topic: string, from = 0): Promise<{ records: LogRecordJson[]; next: number }> {
  const records: LogRecordJson[] = [];
  for (let next = from; ;) {
    const { status, body } = await client.call('GET', `/api/topics/${topic}/log?from_offset=${next}&limit=1000`);
    expect(status).toBe(200);
    records.push(...(body.records as LogRecordJson[]));
    next = body.next_offset as number;
    if (body.records.length === 0) return { records, next };
  }
}

test('a backup during publishes contains all earlier acknowledged messages; the restored copy serves, and later cursors have no gaps', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'tocsin-backup-'));
  own.add(() => rmSync(dir, { recursive: true }));
  const configuration = { RATE_LIMITS: 'off', EXPO_URL: 'http://127.0.0.1:9' };
  const start = async (name: string): Promise<Stack> => {
    const stack = await startEmbeddedStack({ dir: join(dir, name), env: configuration });
    own.add(() => stack.stop());
    return stack;
  };
  const file = join(dir, 'backup.db');
  const first = await start('first');
  const store = await openStackDocuments(first);
  const account = await createAccount(store, { urls: first.urls });
  await store.close();
  const { name: topic } = await createTopic(account);
  const publishing = keepPublishing({
    urls: first.urls,
    topics: [topic],
    publishers: 8,
    pauseMs: 0,
    textLength: 3_000,
  });
  own.add(() => publishing.cutOff());
  await eventually(() => publishing.acked.length > 1_500);

  const before = new Set(publishing.acked.map(({ id }) => id));
  const begunAt = performance.now();
  const made = await runTocsin(['backup', file, '--json'], first.env);
  const backupMs = performance.now() - begunAt;
  const meanwhile = publishing.attempts.filter(({ sentAt }) => sentAt >= begunAt);
  expect(made).toMatchObject({ code: 0, err: expect.stringContaining('100 % of') });
  const { bytes } = JSON.parse(made.out) as { bytes: number };
  expect(statSync(file).size).toBe(bytes);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await runTocsin(['backup', file], first.env)).toMatchObject({
    code: 1,
    err: `${file} already exists: move it, or choose another path\n`,
  });
  const countThen = publishing.acked.length;
  await eventually(() => publishing.acked.length > countThen + 200);
  await publishing.stop();
  expect(meanwhile.filter(({ status }) => status !== 200)).toEqual([]);
  const lost = await logOf(account.client, topic);
  await first.server('tocsin').kill();

  /** A server on a copy of the backup in its own directory. */
  const restore = async (name: string) => {
    const env = { DATA_DIR: join(dir, name, 'data') };
    expect(await runTocsin(['restore', file], env)).toMatchObject({ code: 0 });
    copyFileSync(join(first.env['DATA_DIR']!, 'jwt.secret'), join(env.DATA_DIR, 'jwt.secret'));
    const stack = await start(name);
    const client = new Client(account.client.token, stack.urls);
    const publish = async (text: string) => {
      const { status, body } = await client.call('POST', `/${topic}`, { text });
      expect(status).toBe(200);
      return body as { id: string; offset: number };
    };
    return { stack, client, publish, restoreAgain: () => runTocsin(['restore', file], env) };
  };
  const second = await restore('second');
  expect((await second.restoreAgain()).err).toContain('is in use by another Tocsin');
  const held = await logOf(second.client, topic);
  expect(held.records).toEqual(lost.records.slice(0, held.records.length));
  expect(held.records.length).toBeLessThan(lost.records.length);
  const heldIds = new Set(held.records.map(({ message }) => message.id));
  expect([...before].filter((id) => !heldIds.has(id))).toEqual([]);
  expect(await accessTokenOf(account, second.stack.urls)).toEqual(expect.any(String));

  const fresh = [];
  for (let n = 0; n < 20; n += 1) fresh.push(await second.publish(`after the restore ${n}`));
  const onwards = await logOf(second.client, topic, lost.next);
  expect(onwards.records.map(({ offset, message }) => ({ id: message.id, offset }))).toEqual(
    fresh.map(({ id, offset }) => ({ id, offset })),
  );
  const since = await second.client.call('GET', `/${topic}/json?since=${lost.records.at(-1)!.message.id}&limit=100`);
  expect((since.body.messages as { id: string }[]).map(({ id }) => id)).toEqual(fresh.map(({ id }) => id));
  await second.stack.stop();
  expect((await second.restoreAgain()).err).toContain('tocsin.db already exists');

  const third = await restore('third');
  const { offset } = await third.publish('after the second restore');
  expect(offset).toBeGreaterThan(fresh.at(-1)!.offset);
  printMeasurements('backup', {
    bytes,
    backupMs,
    acknowledgedBefore: before.size,
    held: heldIds.size,
    publishedMeanwhile: meanwhile.length,
    slowestMeanwhileMs: Math.max(...meanwhile.map(({ ms }) => ms)),
    lostSince: lost.records.length - held.records.length,
  });
}, 180_000);
