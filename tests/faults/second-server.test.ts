import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { startEmbeddedStack } from '../../tools/stack/start-stack.ts';
import { createAccount, createTopic, openStackDocuments } from '../support/stack.ts';
import { printMeasurements } from '@tocsin/shared/testing/figures.ts';
import { startLedgerRun } from './ledger-run.ts';

const root = join(import.meta.dirname, '../..');

let own: Closers;
beforeEach(() => {
  own = closers();
});
afterEach(() => own.closeAll(), 60_000);

/** Runs a program and resolves with its exit code and output. */
async function run(command: string, args: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn(command, args, {
    cwd: root,
    env: { ...process.env, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  own.add(() => void child.kill('SIGKILL'));
  const [[code], out, err] = await Promise.all([
    once(child, 'close') as Promise<[number]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, out, err };
}

test('refuses a second server on a DATA_DIR with a reason, does not affect the first, and releases the directory after a crash', async () => {
  const stack = await startEmbeddedStack({ env: { RATE_LIMITS: 'off', EXPO_URL: 'http://127.0.0.1:9' } });
  own.add(() => stack.stop());
  const documents = await openStackDocuments(stack);
  const account = await createAccount(documents, { urls: stack.urls });
  await documents.close();
  const topics = [(await createTopic(account)).name, (await createTopic(account)).name];
  const ledger = startLedgerRun(own, { urls: stack.urls, topics, publishers: 4, isKeyed: true });
  const { acked } = ledger.publishing;
  await eventually(() => acked.length > 20);

  const first = stack.server('tocsin');
  const begunAt = performance.now();
  const others = await Promise.all([
    run('npm', ['start', '--silent'], stack.env),
    run(process.execPath, ['cli/main.ts', 'serve'], stack.env),
    run(process.execPath, ['services/notifier/main.ts'], stack.env),
  ]);
  const refusedMs = performance.now() - begunAt;
  const reason = `${stack.env['DATA_DIR']} is in use by another Tocsin (process ${first.pid}): stop it first, or set DATA_DIR to another directory\n`;
  expect(others.map(({ code, err }) => ({ code, err }))).toEqual(others.map(() => ({ code: 1, err: reason })));
  expect(others.filter(({ out }) => out.includes('"msg":"ready"'))).toEqual([]);

  const whenRefused = acked.length;
  await eventually(() => acked.length > whenRefused + 20);
  await first.kill();
  await first.start();
  const whenRestarted = acked.length;
  await eventually(() => acked.length > whenRestarted + 20);
  printMeasurements('second server', { refusedMs, lost: 0, ...(await ledger.expectComplete()) });
});
