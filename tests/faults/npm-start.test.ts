import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { tmpdir } from 'node:os';
import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { freePorts } from '../../tools/engines/free-ports.ts';
import { portAccepts } from '../../tools/engines/port-accepts.ts';

const root = join(import.meta.dirname, '../..');

test('SIGTERM to the npm process alone stops the server of `npm start`', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'tocsin-npm-start-'));
  const [port] = await freePorts(1);
  const env = { ...process.env, NODE_OPTIONS: '', PORT: String(port), DATA_DIR: join(dir, 'data') };
  const npm = spawn('npm', ['start'], { cwd: root, env, stdio: 'ignore', detached: true });
  const exited = once(npm, 'exit');
  try {
    await eventually(async () => expect(await portAccepts(port!)).toBe(true), { timeoutMs: 60_000 });
    npm.kill('SIGTERM');
    await exited;
    await eventually(async () => expect(await portAccepts(port!)).toBe(false));
  } finally {
    try {
      process.kill(-npm.pid!, 'SIGKILL'); // ends processes that survived
    } catch {
      // the group has ended
    }
    rmSync(dir, { recursive: true, force: true });
  }
});

test('`npx tocsin` runs the installed program, without an engine warning on any Node that npm runs on', async () => {
  // A link of a workspace. For a bin of the root package, npm would compare all installed packages with the lockfile.
  expect(realpathSync(join(root, 'node_modules/.bin/tocsin'))).toBe(join(root, 'cli/main.ts'));
  // The PATH of a user, without node_modules/.bin, so that npm may run on a Node older than Tocsin's.
  const PATH = process.env['PATH']!.split(delimiter)
    .filter((entry) => !entry.includes('node_modules'))
    .join(delimiter);
  const npx = spawn('npx', ['tocsin', '--version'], {
    cwd: root,
    env: { PATH, HOME: process.env['HOME'] },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  npx.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const [code] = (await once(npx, 'close')) as [number];
  expect(errors).not.toContain('EBADENGINE');
  expect(code).toBe(0);
});
