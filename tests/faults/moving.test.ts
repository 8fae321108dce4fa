import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
import { killTocsinAt, measureTocsin } from './run-tocsin.ts';

/** At least 12,000, so that imports can be killed among the messages. */
const messagesMoved = Number(process.env['TOCSIN_MOVED_MESSAGES'] ?? 12_000);
/** The messages that a client with a position has not read yet. */
const unread = 200;
const appendedAtOnce = 500;
/** Memory of a command for any number of messages: rows pass through it in pages. */
const memoryMbMax = 400;
const smallHeap = '--max-old-space-size=96';
// An unresponsive server does not report readiness.
const env = { RATE_LIMITS: 'off', EXPO_URL: 'http://127.0.0.1:9', LOG_LEVEL: 'info' };

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
  /** Runs `tocsin` with a small heap, expects progress lines, and resolves with the measurements. */
  const tocsin = async (args: readonly string[], environment: Readonly<Record<string, string>>) => {
    const { seconds, memoryMb, lines } = await measureTocsin(args, { ...environment, NODE_OPTIONS: smallHeap });
    expect(memoryMb).toBeLessThan(memoryMbMax);
    const progress = args[0] === 'export' ? /^messages: 10000$/ : /^messages: verified 10000 of \d+$/;
    expect(lines.filter((line) => progress.test(line))).toHaveLength(1);
    return { seconds: Math.round(seconds * 10) / 10, memoryMb: Math.round(memoryMb) };
  };
  /** Kills an import in the middle of the messages. */
  const killImport = async (from: string, environment: Readonly<Record<string, string>>) => {
    const isReached = (line: string) => Number(/^messages: (\d+) of /.exec(line)?.[1]) >= messagesMoved / 3;
    expect(await killTocsinAt(isReached, ['import', from], environment)).toBe('SIGKILL');
  };
  /** Exports the installation and expects the rows of the other export: the same IDs, offsets and content. */
  const expectSameRows = async (other: string, environment: Readonly<Record<string, string>>) => {
    const again = `${other}-again`;
    await tocsin(['export', again], environment);
    expect(digestsOf(again)).toEqual(digestsOf(other));
    expect(digestsOf(other)['messages']).toMatch(/^[1-9]\d* /);
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

  test(
    'move to a cluster despite a killed import, and back: every position of clients continues with new messages',
    async () => {
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
      const exported = await tocsin(['export', up], stack.env);
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
      const imported = await tocsin(['import', up], cluster);
      await expectSameRows(up, cluster);
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
      const exportedBack = await tocsin(['export', back], cluster);
      const second = { ...env, DATA_DIR: join(dir, 'second', 'data') };
      await killImport(back, second);
      const importedBack = await tocsin(['import', back], second);
      await expectSameRows(back, second);
      await startFile('second');
      ids.push(...(await publish(token, topic.name, 4)));
      const reader = { urls: stack.urls, token: await accessTokenOf(account, stack.urls) };
      await expectToGoOn(streams, reader, { held, ids: ids.slice(messagesMoved - unread) });
      await expectToGoOn(streams, reader, { held: heldNew, ids: ids.slice(messagesMoved + 6) });
      printMeasurements('moving', {
        messages: messagesMoved,
        exported,
        messagesMb: Math.round(statSync(join(up, 'messages.ndjson.gz')).size / 1_048_576),
        imported,
        exportedBack,
        importedBack,
      });
    },
    Math.max(600_000, messagesMoved * 4),
  );
});

/** The number of rows and the digest of each part, except of topics, whose partitions differ between installations. */
function digestsOf(dir: string): Record<string, string> {
  const { parts } = JSON.parse(readFileSync(join(dir, 'manifest.json'), 'utf8')) as {
    parts: { name: string; rows: number; digest: string }[];
  };
  return Object.fromEntries(
    parts.map(({ name, rows, digest }) => [name, name === 'topics' ? `${rows}` : `${rows} ${digest}`]),
  );
}
