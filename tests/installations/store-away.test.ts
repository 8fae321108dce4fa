import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { OperatorStore } from '@tocsin/shared/open-engine.ts';
import { closers } from '@tocsin/shared/platform/lifecycle.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { readTestEngines } from '@tocsin/shared/testing/read-test-engines.ts';
import { openTcpProxy } from '@tocsin/shared/testing/tcp-proxy.ts';
import type { Stack } from '../../tools/stack/start-stack.ts';
import { startOwnStack } from '../support/own-stack.ts';
import { createAccount, newTopicName, openStackDocuments, type Account } from '../support/stack.ts';

const own = closers();
let stack: Stack;
let owner: Account;
/** Blocks and restores the servers' access to their database. */
let database: { takeAway(): void; giveBack(): void };

beforeAll(async () => {
  const env: Record<string, string> = {};
  const isCluster = process.env['TOCSIN_ENGINE'] === 'cluster';
  if (isCluster) {
    const url = new URL(readTestEngines()!.mongoUrl);
    const proxy = await openTcpProxy({ host: url.hostname, port: Number(url.port) });
    own.add(() => proxy.close());
    database = { takeAway: () => proxy.cut({ refuse: true }), giveBack: () => proxy.restore() };
    url.host = `127.0.0.1:${proxy.port}`;
    url.pathname = `/tocsin_${randomBytes(4).toString('hex')}`;
    env['MONGO_URL'] = url.href;
  }
  stack = await startOwnStack(env);
  own.add(() => stack.stop());
  const store: OperatorStore = await openStackDocuments(stack);
  own.add(() => store.close());
  owner = await createAccount(store, { urls: stack.urls });
  if (isCluster) return;
  // A write of the server may be in progress.
  const other = new DatabaseSync(join(stack.env['DATA_DIR']!, 'tocsin.db'), { timeout: 10_000 });
  own.add(async () => other.close());
  database = { takeAway: () => other.exec('BEGIN IMMEDIATE'), giveBack: () => other.exec('ROLLBACK') };
});
afterAll(() => own.closeAll(), 60_000);

test('returns 503 with Retry-After while the store is unavailable, and recovers afterwards', async () => {
  const create = () => owner.client.call('POST', '/api/topics', { json: { name: newTopicName() } });
  expect((await create()).status).toBe(201);
  database.takeAway();
  const { status, headers, body } = await create();
  expect([status, body]).toEqual([503, { detail: 'Database is unavailable' }]);
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  expect(headers.get('content-type')).toBe('application/json');
  database.giveBack();
  await eventually(async () => expect((await create()).status).toBe(201));
});
