import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { ServerProcess } from './server-process.ts';

const dir = mkdtempSync(join(tmpdir(), 'tocsin-server-process-'));
let server: ServerProcess;
afterEach(async () => {
  await server.kill();
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const mute = (env: Record<string, string>) =>
  new ServerProcess({
    name: 'mute',
    args: ['-e', 'setInterval(() => undefined, 1_000)'],
    env,
    logFile: join(dir, 'mute.log'),
    startMsMax: 300,
  });

test('kills a server that is not ready in time', async () => {
  server = mute({});
  await expect(server.start()).rejects.toThrow('mute is not ready after 300 ms');
  expect(server.isRunning).toBe(false);
});

test.each(['warn', 'silent'])('asks /health/ready if LOG_LEVEL=%s hides the ready line', async (level) => {
  const script =
    "require('node:http').createServer((q, r) => r.writeHead(q.url === '/health/ready' ? 200 : 404).end()).listen(process.env.METRICS_PORT, '127.0.0.1')";
  server = new ServerProcess({
    name: 'worker',
    args: ['-e', script],
    env: { LOG_LEVEL: level },
    logFile: join(dir, 'worker.log'),
    startMsMax: 20_000,
  });
  await server.start();
  expect(server.isRunning).toBe(true);
  expect(() => server.url).toThrow('worker does not listen');
});
