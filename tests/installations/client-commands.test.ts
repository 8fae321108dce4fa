import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { OperatorStore } from '@tocsin/shared/open-engine.ts';
import { packageVersion } from '@tocsin/shared/runtime/package-version.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { runCommand, startCommand } from '../support/run-command.ts';
import { createAccount, createTopic, openStackDocuments, testStack, type Account } from '../support/stack.ts';

let store: OperatorStore;
beforeAll(async () => {
  store = await openStackDocuments();
});
afterAll(() => store.close());

/** The environment of a client of one of the nodes. */
function talkingTo(node: number, { client }: Account) {
  const { urls } = testStack();
  return { TOCSIN_URL: urls[node % urls.length], TOCSIN_TOKEN: client.token };
}

const run = (account: Account, args: readonly string[], input = '') => runCommand(args, input, talkingTo(1, account));

test('the command prints its version', async () => {
  expect(await runCommand(['--version'])).toMatchObject({ code: 0, out: `${packageVersion}\n`, error: '' });
});

test('a message published in one terminal reaches another and appears in the log once per consumer', async () => {
  const account = await createAccount(store);
  const topic = await createTopic(account, { is_private: true });
  const subscriber = startCommand(['subscribe', topic.name, '--since', 'all', '--json'], talkingTo(0, account));
  const events: { type: string; message: string; position: string }[] = [];
  createInterface(subscriber.stdout).on('line', (line) => events.push(JSON.parse(line)));

  const first = await run(account, [
    'publish',
    topic.name,
    'Nightly backup finished',
    '--title',
    'Backups',
    '--priority',
    'high',
    '--tags',
    'db,ok',
  ]);
  expect(first).toMatchObject({ code: 0, error: '' });
  await run(account, ['publish', topic.name, '--json'], 'from standard input\n');
  await eventually(
    () =>
      expect(events).toMatchObject([
        {
          type: 'message',
          id: first.out.trim(),
          title: 'Backups',
          message: 'Nightly backup finished',
          priority: 4,
          tags: ['db', 'ok'],
          position: `${topic.name}:${first.out.trim()}`,
        },
        { type: 'message', message: 'from standard input' },
      ]),
    { timeoutMs: 30_000 },
  );
  subscriber.kill('SIGTERM');

  const log = ['log', topic.name, '--consumer', 'archive'];
  expect((await run(account, [...log, '--limit', '1'])).out).toMatch(
    /^\d+ {2}\S+Z {2}message {2}Backups: Nightly backup finished\n$/,
  );
  expect((await run(account, log)).out).toMatch(/^\d+ {2}\S+Z {2}message {2}from standard input\n$/);
  expect(await run(account, log)).toEqual({ code: 0, out: '', error: '' });
}, 180_000); // six processes, each of which may take many seconds to start on a busy machine

test('exits with 1 and the reason if the server refuses, and with 2 on wrong usage', async () => {
  const account = await createAccount(store);
  expect(await run(account, ['publish', 'no-such-topic', 'text'])).toEqual({
    code: 1,
    out: '',
    error: 'Topic not found\n',
  });
  expect(await run(account, ['subscribe', 'no-such-topic'])).toEqual({ code: 1, out: '', error: 'Topic not found\n' });
  expect(await run(account, ['log', 'any', '--from-offset', '1', '--consumer', 'archive'])).toMatchObject({
    code: 2,
    out: '',
    error: expect.stringContaining('cannot be used with'),
  });
}, 120_000);
