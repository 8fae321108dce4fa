import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withInstallLock } from './with-install-lock.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tocsin-lock-test-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

test('grants the lock to concurrent callers one at a time', async () => {
  let holders = 0;
  let holdersMax = 0;
  const work = async () => {
    holdersMax = Math.max(holdersMax, ++holders);
    await new Promise((resolve) => setImmediate(resolve));
    holders -= 1;
  };
  await Promise.all([1, 2, 3].map(() => withInstallLock(dir, 'kafka', work)));
  expect(holdersMax).toBe(1);
});

test('releases the lock and throws the error of a failed install', async () => {
  await expect(withInstallLock(dir, 'kafka', () => Promise.reject(new Error('no network')))).rejects.toThrow(
    'no network',
  );
  expect(await withInstallLock(dir, 'kafka', () => Promise.resolve('installed'))).toBe('installed');
});

test('releases the lock of a killed holder', async () => {
  const module = join(import.meta.dirname, 'with-install-lock.ts');
  const script = `
    const { withInstallLock } = await import(process.argv[1]);
    await withInstallLock(process.argv[2], 'kafka', () => { console.log('held'); return new Promise((r) => setTimeout(r, 60_000)); });
  `;
  const holder = spawn(process.execPath, ['--input-type=module', '-e', script, module, dir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(holder.stdout, 'data');
  const ended = once(holder, 'exit');
  const waiting = withInstallLock(dir, 'kafka', () => Promise.resolve('installed'));
  holder.kill('SIGKILL');
  expect(await waiting).toBe('installed');
  expect(await ended).toEqual([null, 'SIGKILL']);
});
