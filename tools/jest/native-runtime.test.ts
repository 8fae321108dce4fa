import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const config = {
  testEnvironment: join(import.meta.dirname, 'native-environment.cjs'),
  runtime: join(import.meta.dirname, 'native-runtime.cjs'),
};

/** Two files that pass only if the first one left nothing behind except the module that both load. */
const files = {
  'loaded.mjs': `export const loaded = { count: 0 };`,
  'a.test.mjs': `
    import { afterAll, expect, jest, test } from '@jest/globals';
    import { loaded } from './loaded.mjs';
    afterAll(() => { loaded.count += 1; });
    test('is first', () => {
      expect([loaded.count, process.env.OF_A_TEST, process.env.PATH]).toEqual([0, undefined, expect.any(String)]);
      process.env.OF_A_TEST = 'set';
      delete process.env.PATH;
      jest.useFakeTimers();
      jest.setSystemTime(0);
    });
    test('mocks a module', () => { jest.mock('./loaded.mjs', () => ({})); });`,
  'b.test.mjs': `
    import { expect, test } from '@jest/globals';
    import { loaded } from './loaded.mjs';
    test('is second', () => {
      expect([loaded.count, process.env.OF_A_TEST, process.env.PATH]).toEqual([1, undefined, expect.any(String)]);
      expect(Date.now()).toBeGreaterThan(0);
    });
    test('fails', () => { expect(1).toBe(2); });`,
};

let dir: string;
let results: Record<string, { status: string; failureMessages: string[] }>;
let output: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'tocsin-runtime-test-'));
  writeFileSync(join(dir, 'package.json'), '{}');
  for (const [name, code] of Object.entries(files)) writeFileSync(join(dir, name), code);
  const json = join(dir, 'results.json');
  const args = ['--config', JSON.stringify({ ...config, rootDir: dir, testMatch: ['**/*.test.mjs'] })];
  const jest = spawnSync(
    process.execPath,
    [join(root, 'node_modules/jest/bin/jest.js'), ...args, '--runInBand', '--json', `--outputFile=${json}`, '--ci'],
    { encoding: 'utf8' },
  );
  output = jest.stderr;
  type Results = {
    testResults: { assertionResults: { title: string; status: string; failureMessages: string[] }[] }[];
  };
  const { testResults } = JSON.parse(readFileSync(json, 'utf8')) as Results;
  results = Object.fromEntries(
    testResults.flatMap(({ assertionResults }) => assertionResults.map((result) => [result.title, result])),
  );
});
afterAll(() => rmSync(dir, { recursive: true }));

test('files share modules, but not environment variables and fake timers', () => {
  expect(results).toMatchObject({ 'is first': { status: 'passed' }, 'is second': { status: 'passed' } });
});

test('a file that mocks a module fails', () => {
  expect(results['mocks a module']!.failureMessages.join()).toContain('Modules cannot be mocked');
});

test('a failure names the line with a path relative to the root', () => {
  expect(output).toContain('(b.test.mjs:8:');
});
