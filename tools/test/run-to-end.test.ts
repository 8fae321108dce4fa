import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { processIdentity } from '../engines/process-identity.ts';
import { runToEnd } from './run-to-end.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tocsin-run-test-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const run = (code: string, options: Partial<Parameters<typeof runToEnd>[1]> = {}) =>
  runToEnd(['-e', code], { env: process.env, signal: new AbortController().signal, timeoutMs: 25_000, ...options });

const forever = 'setInterval(() => {}, 1000);';

test('returns the exit code of a program', async () => {
  expect(await run('process.exit(3)')).toBe(3);
});

test('writes both output streams to a file in order', async () => {
  const outputFile = join(dir, 'output');
  expect(await run(`console.log('one'); console.error('two'); console.log('three');`, { outputFile })).toBe(0);
  expect(readFileSync(outputFile, 'utf8')).toBe('one\ntwo\nthree\n');
});

test('gives the lowest priority to a program and its children', async () => {
  const outputFile = join(dir, 'output');
  const tell = `process.stdout.write(require('node:os').getPriority() + ' ');`;
  const code = `${tell} require('node:child_process').spawnSync(process.execPath, ['-e', ${JSON.stringify(tell)}], { stdio: ['ignore', 'inherit', 'inherit'] });`;
  expect(await run(code, { outputFile, isLowPriority: true })).toBe(0);
  expect(readFileSync(outputFile, 'utf8')).toBe('19 19 ');
});

test('gives the lowest session priority to each of several concurrent programs', async () => {
  const group = '/proc/self/autogroup';
  const code = `const { existsSync, readFileSync } = require('node:fs');
    setInterval(() => !existsSync('${group}') || readFileSync('${group}', 'utf8').includes('nice 19') ? process.exit() : undefined, 20);`;
  expect(await Promise.all([1, 2, 3].map(() => run(code, { isLowPriority: true })))).toEqual([0, 0, 0]);
});

test('ends a program after the time limit', async () => {
  expect(await run(forever, { timeoutMs: 50 })).toBe('timeout');
});

test('reports a leak if a program does not exit after its work', async () => {
  const doneFile = join(dir, 'done');
  const code = `require('node:fs').writeFileSync(process.env.DONE_FILE, ''); ${forever}`;
  expect(await run(code, { env: { ...process.env, DONE_FILE: doneFile }, doneFile, lingerMs: 50 })).toBe('leak');
});

test('ends the children of an interrupted program, even if they ignore the signal', async () => {
  const pidFile = join(dir, 'pid');
  const code = `
    const stubborn = ${JSON.stringify(`process.on('SIGINT', () => {}); require('node:fs').writeFileSync(process.env.PID_FILE, String(process.pid)); ${forever}`)};
    require('node:child_process').spawn(process.execPath, ['-e', stubborn], { stdio: 'ignore' });
    ${forever}`;
  const interrupt = new AbortController();
  const running = run(code, { env: { ...process.env, PID_FILE: pidFile }, signal: interrupt.signal, graceMs: 50 });
  await eventually(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8') !== '');
  interrupt.abort();
  expect(await running).toBe('aborted');
  await eventually(() => processIdentity(Number(readFileSync(pidFile, 'utf8'))) === undefined);
});
