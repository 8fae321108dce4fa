import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { createTopic, testStack } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();
let dir: string;
let running: ChildProcess | undefined;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tocsin-consumer-'));
});
afterEach(async () => {
  await kill();
  rmSync(dir, { recursive: true, force: true });
});

/** The program in docs/consuming.md. */
function program(): string {
  const page = readFileSync(join(import.meta.dirname, '../../docs/consuming.md'), 'utf8');
  const block = /```js consumer\n([\s\S]*?)```/.exec(page);
  if (block === null) throw new Error('docs/consuming.md has no consumer');
  return block[1]!;
}

async function kill(): Promise<void> {
  if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
  const gone = once(running, 'exit');
  running.kill('SIGKILL');
  await gone;
}

function processed(): string[] {
  try {
    return readFileSync(join(dir, 'archive.txt'), 'utf8').split('\n').slice(0, -1);
  } catch {
    return [];
  }
}

test('the consumer in the docs processes every record after being killed and restarted', async () => {
  const code = program();
  expect(code.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(20);
  writeFileSync(join(dir, 'consumer.mjs'), code);
  const owner = await stack.person({ tier: 'TEAM' });
  const topic = await createTopic(owner, { access_level: 'private' });
  const { token } = (
    await owner.post(`/api/topics/${topic.name}/access-tokens`, { name: 'archive', permissions: ['read'] })
  ).body;
  const env = { PATH: process.env['PATH'], TOCSIN_URL: testStack().urls[0]!, TOPIC: topic.name, TOKEN: token };

  const published: string[] = [];
  for (let round = 1; round <= 3; round += 1) {
    running = spawn(process.execPath, ['consumer.mjs'], { cwd: dir, env, stdio: ['ignore', 'inherit', 'inherit'] });
    const sending = Promise.all(
      Array.from({ length: 25 }, async (_, index) => {
        const { body } = await owner.client.call('POST', `/${topic.name}`, { text: `${round}-${index}`, node: index });
        published.push(`${body.offset} ${body.message}`);
      }),
    );
    const before = processed().length;
    await eventually(() => expect(processed().length).toBeGreaterThan(before), { timeoutMs: 20_000 });
    await kill();
    await sending;
  }
  running = spawn(process.execPath, ['consumer.mjs'], { cwd: dir, env, stdio: ['ignore', 'inherit', 'inherit'] });
  await eventually(() => expect(new Set(processed()).size).toBe(75), { timeoutMs: 20_000 });

  const byOffset = (a: string, b: string) => Number.parseInt(a, 10) - Number.parseInt(b, 10);
  expect([...new Set(processed())]).toEqual(published.sort(byOffset));
}, 120_000);
