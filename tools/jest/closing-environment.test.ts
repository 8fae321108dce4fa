import { expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const jest = join(import.meta.dirname, '..', '..', 'node_modules', 'jest', 'bin', 'jest.js');
const testEnvironment = join(import.meta.dirname, 'closing-environment.cjs');
const runtime = join(import.meta.dirname, 'native-runtime.cjs');

test.each(['test.skip', 'test'])('runs afterAll once in a file whose only test is declared by %s', (declare) => {
  const dir = mkdtempSync(join(tmpdir(), 'tocsin-closing-test-'));
  try {
    writeFileSync(join(dir, 'package.json'), '{}');
    const closed = JSON.stringify(join(dir, 'closed'));
    writeFileSync(
      join(dir, 'some.test.js'),
      `afterAll(() => require('node:fs').appendFileSync(${closed}, 'x'));\n${declare}('one', () => {});`,
    );
    spawnSync(process.execPath, [jest, '--config', JSON.stringify({ rootDir: dir, testEnvironment, runtime })]);
    expect(readFileSync(join(dir, 'closed'), 'utf8')).toBe('x');
  } finally {
    rmSync(dir, { recursive: true });
  }
});
