import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { freePorts } from '../../tools/engines/free-ports.ts';
import { createTopic, made } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();
const root = join(import.meta.dirname, '../..');
const patience = { timeoutMs: 60_000 };

let own: Closers;
beforeEach(() => {
  own = closers();
});
afterEach(() => own.closeAll());

/** The program in docs/sinks.md. */
function program(): string {
  const block = /```js receiver\n([\s\S]*?)```/.exec(readFileSync(join(root, 'docs/sinks.md'), 'utf8'));
  if (block === null) throw new Error('docs/sinks.md has no receiver');
  return block[1]!;
}

/** Starts the program with a secret; returns the lines that it prints. */
async function start(port: number, secret: string): Promise<string[]> {
  const dir = mkdtempSync(join(tmpdir(), 'tocsin-receiver-'));
  own.add(() => rmSync(dir, { recursive: true, force: true }));
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'));
  writeFileSync(join(dir, 'receiver.mjs'), program());
  const env = { PATH: process.env['PATH'], PORT: String(port), SECRET: secret };
  const child = spawn(process.execPath, ['receiver.mjs'], { cwd: dir, env, stdio: ['ignore', 'pipe', 'inherit'] });
  own.add(async () => {
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  });
  const lines: string[] = [];
  createInterface(child.stdout).on('line', (line) => lines.push(line));
  return lines;
}

test('the receiver in the docs takes each signed record once, and refuses others', async () => {
  const owner = await stack.person({ tier: 'TEAM' });
  const topic = await createTopic(owner);
  const [port] = (await freePorts(1)) as [number];
  const url = `http://127.0.0.1:${port}/`;
  const path = `/api/topics/${topic.id}/sinks`;
  const sink = await made(owner.post(path, { name: 'tickets', kind: 'webhook', url }));
  const lines = await start(port, sink.secret);
  const send = (headers: Record<string, string>) => fetch(url, { method: 'POST', headers, body: '{}' });
  await eventually(async () => expect((await send({})).status).toBe(401), patience);
  for (const text of ['one', 'two']) await made(owner.publish(topic.name, text));
  await eventually(() => expect(lines).toEqual(['one', 'two']), patience);
  const forged = {
    'webhook-id': 'x',
    'webhook-timestamp': String(Math.floor(Date.now() / 1_000)),
    'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}`,
  };
  expect((await send(forged)).status).toBe(401);

  await made(owner.patch(`${path}/${sink.id}`, { offset: 0 }));
  await eventually(
    async () => expect((await owner.get(`${path}/${sink.id}`)).body).toMatchObject({ delivered: 4, skipped: 0 }),
    patience,
  );
  expect(lines).toEqual(['one', 'two']);
}, 150_000);
