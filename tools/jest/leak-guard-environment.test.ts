import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tocsin-leak-test-'));
  writeFileSync(join(dir, 'package.json'), '{}');
});
afterEach(() => rmSync(dir, { recursive: true }));

const jest = join(import.meta.dirname, '..', '..', 'node_modules', 'jest', 'bin', 'jest.js');
const testEnvironment = join(import.meta.dirname, 'leak-guard-environment.cjs');
const runtime = join(import.meta.dirname, 'native-runtime.cjs');

/** Runs Jest on one file with this code, with forceExit because open handles would keep it running. */
const runTestFile = (code: string) => {
  writeFileSync(join(dir, 'some.test.js'), code);
  const results = join(dir, 'results.json');
  const config = { rootDir: dir, testEnvironment, runtime, testEnvironmentOptions: { settleMsMax: 100 } };
  const args = [jest, '--config', JSON.stringify(config), '--forceExit', '--json', `--outputFile=${results}`];
  // Through pipes, as on CI: the first print opens a pipe handle.
  spawnSync(process.execPath, args, { stdio: 'pipe' });
  const { success, testResults } = JSON.parse(readFileSync(results, 'utf8')) as {
    success: boolean;
    testResults: { message: string }[];
  };
  return { success, message: testResults.map(({ message }) => message).join('\n') };
};

test('fails a file that leaves a server open, and names the handle', () => {
  const run = runTestFile(`test('passes', () =>
    new Promise((resolve) => require('node:net').createServer().listen(0, '127.0.0.1', resolve)));`);
  expect(run.success).toBe(false);
  expect(run.message).toContain('This file left open: TCPServerWrap');
});

test('passes a file that closes its handles, even with a delay', () => {
  const run = runTestFile(`test('passes', () => {
    setTimeout(() => {}, 20);
    setInterval(() => {}, 1000).unref();
  });`);
  expect(run).toEqual({ success: true, message: '' });
});

test('does not report the handles of standard output and standard error', () => {
  const run = runTestFile(
    `test('passes', () => { process.stdout.write('printed'); process.stderr.write('printed'); });`,
  );
  expect(run).toEqual({ success: true, message: '' });
});
