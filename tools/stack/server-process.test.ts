import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { ServerProcess } from './server-process.ts';

const dir = mkdtempSync(join(tmpdir(), 'tocsin-server-process-'));
let server: ServerProcess;
afterEach(async () => {
  await server.kill();
  rmSync(dir, { recursive: true, force: true });
});

const mute = (env: Record<string, string>) =>
  new ServerProcess({
    name: 'mute',
    args: ['-e', 'setInterval(() => undefined, 1_000)'],
    env,
    logFile: join(dir, 'mute.log'),
    startMsMax: 300,
  });

test('a server that is not ready in time is ended', async () => {
  server = mute({});
  await expect(server.start()).rejects.toThrow('mute is not ready after 300 ms');
  expect(server.isRunning).toBe(false);
});

test('a server that may not say that it is ready is not started', async () => {
  server = mute({ LOG_LEVEL: 'silent' });
  await expect(server.start()).rejects.toThrow('its LOG_LEVEL is silent, and info says so');
});
