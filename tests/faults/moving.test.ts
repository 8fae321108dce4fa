import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, expect, test } from '@jest/globals';
import { openEngine } from '@tocsin/shared/open-engine.ts';
import { systemClock } from '@tocsin/shared/platform/clock.ts';
import { closers } from '@tocsin/shared/platform/lifecycle.ts';
import { loadConfig } from '@tocsin/shared/platform/load-config.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { newMessage } from '@tocsin/shared/testing/builders.ts';
import { describeWithEngines } from '@tocsin/shared/testing/describe-with-engines.ts';
import { newTestPlace } from '@tocsin/shared/testing/test-engine.ts';
import { startClusterStack, startEmbeddedStack, type Stack } from '../../tools/stack/start-stack.ts';
import {
  accessTokenOf,
  Client,
  createAccount,
  createTopic,
  openStackDocuments,
  type Account,
} from '../support/stack.ts';
import { useStreams } from '../support/use-streams.ts';
import { printMeasurements } from '@tocsin/shared/testing/figures.ts';
import { expectToGoOn, holdPositions } from './held-positions.ts';
import { runTocsin } from './run-tocsin.ts';

const messagesMoved = Number(process.env['TOCSIN_MOVED_MESSAGES'] ?? 2_000);
/** The messages that a client with a position has not read yet. */
const unread = 200;
const appendedAtOnce = 500;
const env = { RATE_LIMITS: 'off', EXPO_URL: 'http://127.0.0.1:9', LOG_LEVEL: 'info' }; // an unresponsive server does not report readiness

describeWithEngines(`${messagesMoved} messages of an embedded installation`, (engines) => {
  const own = closers();
  afterAll(() => own.closeAll(), 60_000);
  let stack: Stack;
  const streams = useStreams(() => stack.urls);
  const dir = mkdtempSync(join(tmpdir(), 'tocsin-moving-'));
  own.add(() => rmSync(dir, { recursive: true, force: true }));
  const startFile = async (name: string) => {
    stack = await startEmbeddedStack({ dir: join(dir, name), env });
    own.add(() => stack.stop());
  };
  const seconds = async (work: () => Promise<{ code: number | null }>) => {
    const begunAt = performance.now();
    expect(await work()).toMatchObject({ code: 0 });
    return (performance.now() - begunAt) / 1_000;
  };
  const publish = async (token: string, topic: string, count: number) => {
    const ids: string[] = [];
    for (let at = 0; at < count; at += 1)
      ids.push(
        (await new Client(token, stack.urls).call('POST', `/${topic}`, { text: `after ${at}` })).body.id as string,
      );
    return ids;
  };

  /** Appends while no server runs: publishing this many over HTTP would take too long. */
  const appendAll = async (topic: { id: string; name: string }) => {
    const engine = await openEngine(loadConfig({ ...stack.env }, '/nonexistent'), {
      clock: systemClock,
      log: openLogger('test', 'silent'),
    });
    const ids: string[] = [];
    for (let left = messagesMoved; left > 0; left -= appendedAtOnce) {
      await Promise.all(
        Array.from({ length: Math.min(left, appendedAtOnce) }, () => {
          const message = newMessage(topic.id, {
            message: `message ${ids.length} of the pump: ünter 20 °C`,
            tags: ['pump'],
          });
          ids.push(message.id);
          return engine.eventLog.append(0, { type: 'message', timestamp: message.timestamp, message }, topic.name);
        }),
      );
    }
    await engine.close();
    return ids;
  };

  /** Kills an import as soon as it reaches the messages. */
  const killImport = async (from: string, environment: Readonly<Record<string, string>>) => {
    const child = spawn(process.execPath, ['cli/main.ts', 'import', from], {
      cwd: join(import.meta.dirname, '../..'),
      env: { PATH: process.env['PATH'] ?? '', ...environment },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const closed = once(child, 'close') as Promise<[number | null, string | null]>;
    for await (const line of createInterface({ input: child.stderr }))
      if (line.startsWith('topicFigures:')) child.kill('SIGKILL');
    expect((await closed)[1]).toBe('SIGKILL');
  };

  const credentialsOf = async (account: Account, topic: string) => ({
    key: (await account.client.call('POST', '/api/keys', { json: { name: 'k', scopes: ['*'] } })).body.key as string,
    topicToken: (
      await account.client.call('POST', `/api/topics/${topic}/access-tokens`, {
        json: { name: 't', permissions: ['read'] },
      })
    ).body.token as string,
    refreshToken: (
      await new Client(undefined, stack.urls).call('POST', '/auth/login', {
        json: { email: account.email, password: account.password },
      })
    ).body.refresh_token as string,
  });
  const expectCredentials = async (
    account: Account,
    topic: string,
    { key, topicToken, refreshToken }: Awaited<ReturnType<typeof credentialsOf>>,
  ) => {
    const by = (headers: Record<string, string>, path: string) =>
      new Client(undefined, stack.urls).call('GET', path, { headers });
    const statuses = await Promise.all([
      by({ Authorization: `Bearer ${account.client.token}` }, '/api/users/me'),
      by({ 'X-API-Key': key }, '/api/users/me'),
      by({ 'X-Topic-Token': topicToken }, `/${topic}/json`),
      by({}, `/${topic}/json`),
      new Client(undefined, stack.urls).call('POST', '/auth/refresh', { json: { refresh_token: refreshToken } }),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([200, 200, 200, 401, 200]);
    return accessTokenOf(account, stack.urls);
  };

  test('move to a cluster despite a killed import, and back: every position of clients continues with new messages', async () => {
    await startFile('first');
    const store = await openStackDocuments(stack);
    const account = await createAccount(store, { tier: 'TEAM', urls: stack.urls });
    await store.close();
    const topic = await createTopic(account, { access_level: 'private' });
    const credentials = await credentialsOf(account, topic.name);
    await stack.server('tocsin').stop();
    const ids = await appendAll(topic);
    await stack.server('tocsin').start();
    const held = await holdPositions(
      { urls: stack.urls, token: account.client.token! },
      topic.name,
      messagesMoved - unread,
    );
    ids.push(...(await publish(account.client.token!, topic.name, 3)));
    await stack.stop();

    const up = join(dir, 'up');
    const exportSeconds = await seconds(() => runTocsin(['export', up], stack.env));
    const {
      jwtSecrets: [secret],
    } = JSON.parse(readFileSync(join(up, 'secrets.json'), 'utf8')) as { jwtSecrets: [string] };
    const place = newTestPlace(engines);
    own.add(() => place.remove());
    const cluster = { ...place.env, ...env, JWT_SECRET: secret, DATA_DIR: join(dir, 'cluster') } as Record<
      string,
      string
    >;
    await killImport(up, cluster);
    const importSeconds = await seconds(() => runTocsin(['import', up], cluster));
    stack = await startClusterStack({
      layout: 'single',
      kafkaBrokers: cluster['KAFKA_BROKERS']!,
      mongoUrl: cluster['MONGO_URL']!,
      redisUrl: cluster['REDIS_URL']!,
      jwtSecret: secret,
      env: cluster,
    });
    own.add(() => stack.stop());
    const token = await expectCredentials(account, topic.name, credentials);
    expect((await new Client(token, stack.urls).call('GET', `/api/topics/${topic.name}`)).body).toMatchObject({
      message_count: ids.length,
    });
    ids.push(...(await publish(token, topic.name, 5)));
    await expectToGoOn(streams, { urls: stack.urls, token }, { held, ids: ids.slice(messagesMoved - unread) });
    const heldNew = await holdPositions({ urls: stack.urls, token }, topic.name, ids.length - 2);
    await stack.stop();

    const back = join(dir, 'back');
    const exportBackSeconds = await seconds(() => runTocsin(['export', back], cluster));
    const second = { ...env, DATA_DIR: join(dir, 'second', 'data') };
    const importBackSeconds = await seconds(() => runTocsin(['import', back], second));
    await startFile('second');
    ids.push(...(await publish(token, topic.name, 4)));
    const reader = { urls: stack.urls, token: await accessTokenOf(account, stack.urls) };
    await expectToGoOn(streams, reader, { held, ids: ids.slice(messagesMoved - unread) });
    await expectToGoOn(streams, reader, { held: heldNew, ids: ids.slice(messagesMoved + 6) });
    printMeasurements('moving', {
      messages: messagesMoved,
      exportSeconds,
      importSeconds,
      exportBackSeconds,
      importBackSeconds,
    });
  }, 600_000);
});
