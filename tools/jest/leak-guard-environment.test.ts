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
const environment = join(import.meta.dirname, 'leak-guard-environment.cjs');

/** Runs Jest on one file of this code. What is left open would keep it from ending, hence forceExit. */
const runTestFile = (code: string) => {
  writeFileSync(join(dir, 'some.test.js'), code);
  const results = join(dir, 'results.json');
  const config = { rootDir: dir, testEnvironment: environment, testEnvironmentOptions: { lateWritesMsMax: 100 } };
  const args = [jest, '--config', JSON.stringify(config), '--forceExit', '--json', `--outputFile=${results}`];
  // Through pipes, as on CI, where the first line that is printed opens one.
  spawnSync(process.execPath, args, { stdio: 'pipe' });
  const { success, testResults } = JSON.parse(readFileSync(results, 'utf8')) as {
    success: boolean;
    testResults: { message: string }[];
  };
  return { success, message: testResults.map(({ message }) => message).join('\n') };
};

test('a file that leaves a server open fails, and what it left is named', () => {
  const run = runTestFile(`test('passes', () =>
    new Promise((resolve) => require('node:net').createServer().listen(0, '127.0.0.1', resolve)));`);
  expect(run.success).toBe(false);
  expect(run.message).toContain('This file left open: TCPServerWrap');
});

test('a file that closes what it opened passes, also when closing takes a moment', () => {
  const run = runTestFile(`test('passes', () => {
    setTimeout(() => {}, 20);
    setInterval(() => {}, 1000).unref();
  });`);
  expect(run).toEqual({ success: true, message: '' });
});

test('a file that prints has left nothing open', () => {
  const run = runTestFile(
    `test('passes', () => { process.stdout.write('printed'); process.stderr.write('printed'); });`,
  );
  expect(run).toEqual({ success: true, message: '' });
});
