import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { buildClient } from '@tocsin/tools/client/build-client.ts';
import { createTopic, testStack } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();
let dir: string;
let packed: { filename: string; files: { path: string }[] };
const running: ChildProcess[] = [];

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'tocsin-client-'));
  const dist = buildClient(join(dir, 'dist'));
  packed = (JSON.parse(npm(['pack', dist, '--json', '--ignore-scripts'])) as (typeof packed)[])[0]!;
  writeFileSync(join(dir, 'package.json'), '{"private": true}');
  npm(['install', `./${packed.filename}`, '--offline', '--no-audit', '--no-fund']);
});
afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
  rmSync(dir, { recursive: true, force: true });
});

function npm(args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd: dir, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

/** Runs the program that a block of the README shows. */
function runExample(name: string, env: Record<string, string>): { output: () => string[] } {
  const readme = readFileSync(join(dir, 'node_modules/@tocsin/client/README.md'), 'utf8');
  const block = new RegExp(`\`\`\`ts ${name}\\n([\\s\\S]*?)\`\`\``).exec(readme);
  if (block === null) throw new Error(`The README has no example ${name}`);
  const flags = ['--input-type=module', '--disable-warning=ExperimentalWarning'];
  const child = spawn(process.execPath, flags, { cwd: dir, env: { PATH: process.env['PATH'], ...env } });
  child.stdin.end(block[1]);
  running.push(child);
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  return { output: () => text.split('\n').slice(0, -1) };
}

test('the package has compiled modules, their types, a README and a license, and no dependencies', () => {
  const paths = packed.files.map(({ path }) => path);
  for (const module of ['index', 'tocsin-client', 'openapi'])
    expect(paths).toEqual(expect.arrayContaining([`${module}.js`, `${module}.d.ts`]));
  expect(paths).toEqual(expect.arrayContaining(['package.json', 'README.md', 'LICENSE']));
  expect(paths.filter((path) => !/\.(js|d\.ts)$|^(package\.json|README\.md|LICENSE)$/.test(path))).toEqual([]);
  const manifest = JSON.parse(readFileSync(join(dir, 'node_modules/@tocsin/client/package.json'), 'utf8')) as object;
  expect(manifest).toMatchObject({ name: '@tocsin/client', type: 'module' });
  expect(manifest).not.toHaveProperty('dependencies');
  expect(manifest).not.toHaveProperty('private');
});

test('the examples of its README run', async () => {
  const owner = await stack.person({ tier: 'TEAM' });
  const topic = await createTopic(owner);
  const { key } = (await owner.post('/api/keys', { name: 'client', scopes: ['publish', 'subscribe'] })).body;
  const env = { TOCSIN_URL: testStack().urls[0]!, TOPIC: topic.name, TOKEN: key as string };
  const shown = (output: () => string[], lines: unknown[]) => eventually(() => expect(output()).toEqual(lines));
  await shown(runExample('publish', env).output, [expect.stringMatching(/^[0-9a-f-]{36}$/)]);
  await shown(runExample('subscribe', env).output, ['Nightly backup finished']);
  await shown(runExample('consume', env).output, [expect.stringMatching(/^\d+ Nightly backup finished$/)]);
});
