import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { loadConfig } from '@tocsin/shared/platform/load-config.ts';
import { describeWithEngines } from '@tocsin/shared/testing/describe-with-engines.ts';
import { removeInstallation } from '@tocsin/shared/testing/remove-installation.ts';
import { freePorts } from '../../tools/engines/free-ports.ts';
import { printMeasurements } from '@tocsin/shared/testing/figures.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/cluster.md'), 'utf8');

let own: Closers;
beforeEach(() => {
  own = closers();
});
afterEach(() => own.closeAll(), 60_000);

/** The commands of the page, in order; `sh docker` marks commands that need Docker. */
function commandsOfPage(): { runnable: string[]; docker: string[] } {
  const blocks = [...page.matchAll(/^```sh(.*)\n([^]*?)^```$/gm)].map(([, mark, text]) => ({
    mark: mark!.trim(),
    text: text!,
  }));
  expect(blocks.map(({ mark }) => mark).filter((mark) => mark !== '' && mark !== 'docker')).toEqual([]);
  const of = (mark: string) => blocks.filter((block) => block.mark === mark).map(({ text }) => text);
  return { runnable: of(''), docker: of('docker') };
}

/** A directory with only the project, so that the commands write nowhere else. */
function newProjectDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'tocsin-page-'));
  own.add(() => rmSync(dir, { recursive: true }));
  const left = new Set(['.git', '.env', 'data']);
  for (const name of readdirSync(root).filter((one) => !left.has(one))) symlinkSync(join(root, name), join(dir, name));
  own.add(() => {
    for (const file of readdirSync(dir).filter((name) => name.endsWith('.pid')))
      end(Number(readFileSync(join(dir, file), 'utf8')));
  });
  return dir;
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has already ended
  }
}

/** Runs the commands as one script, like a user in one shell. */
function run(
  commands: readonly string[],
  { dir, env }: { dir: string; env: Record<string, string> },
): Promise<{ code: number; out: string; err: string }> {
  const script = `set -euo pipefail\n${commands.map((command) => `echo '%%%'\n${command}`).join('')}`;
  return new Promise((resolve) => {
    const { PATH } = process.env;
    execFile(
      'bash',
      ['-c', script],
      {
        cwd: dir,
        env: { PATH: `${join(root, 'node_modules/.bin')}:${PATH}`, HOME: dir, ...env },
        maxBuffer: 1e8,
        timeout: 580_000,
      },
      (error, out, err) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), out, err });
      },
    );
  });
}

/** The output of the last command, to show why it failed. */
const lastOf = (out: string) => out.split('%%%\n').at(-1)!;

test('a test runs every command of the page that is not marked as needing Docker', () => {
  const { runnable, docker } = commandsOfPage();
  expect(docker.filter((text) => !text.includes('docker'))).toEqual([]);
  expect(runnable.filter((text) => text.includes('docker'))).toEqual([]);
  expect([runnable.length, docker.length]).toEqual([9, 2]);
});

describeWithEngines('docs/cluster.md', ({ kafkaBrokers, mongoUrl, redisUrl }) => {
  test('leads from an empty machine to three API nodes, a backup, a restore, a retention plan and an upgrade', async () => {
    const dir = newProjectDir();
    const installation = randomBytes(4).toString('hex');
    const url = new URL(mongoUrl);
    url.pathname = `/tocsin_${installation}`;
    const restored = new URL(url);
    restored.pathname += '_restored';
    const env = {
      KAFKA_BROKERS: kafkaBrokers,
      MONGO_URL: url.href,
      REDIS_URL: redisUrl,
      KAFKA_TOPIC: `tocsin.${installation}`,
      KAFKA_PARTITIONS: '2',
      NODE_OPTIONS: '--disable-warning=TimeoutNegativeWarning',
    };
    for (const MONGO_URL of [url.href, restored.href]) {
      own.add(() => removeInstallation(loadConfig({ ...env, MONGO_URL, JWT_SECRET: 'x'.repeat(32) }, '/nonexistent')));
    }
    const ports = await freePorts(7);
    const portOf = new Map(
      ['8081', '8082', '8083', '9101', '9102', '9103', '9100'].map((port, index) => [port, ports[index]]),
    );
    const nth = (of: readonly number[]) => `$(echo ${of.join(' ')} | cut -d' ' -f$n)`;
    const onFreePorts = (command: string) =>
      command
        .replace(/\b(?:808[123]|910[0123])\b/g, (port) => String(portOf.get(port)))
        .replaceAll('PORT=808$n', `PORT=${nth(ports.slice(0, 3))}`)
        .replaceAll('910$n', nth(ports.slice(3, 6)));
    const { MONGO_URL: _, ...lasting } = env;
    const begunAt = performance.now();
    const commands = commandsOfPage().runnable.map(onFreePorts);
    // The first command reads the address from its environment, later ones from .env.
    const first = commands[0]!.replace('cat > .env', `MONGO_URL='${env.MONGO_URL}'; cat > .env`);
    const { code, out, err } = await run([first, ...commands.slice(1)], { dir, env: lasting });
    const logs = ['workers', 'api1']
      .map((name) => join(dir, `${name}.log`))
      .filter((file) => existsSync(file))
      .map((file) => readFileSync(file, 'utf8').slice(-1_500));
    expect({
      code,
      last: code === 0 ? '' : lastOf(out),
      err: code === 0 ? '' : err.slice(-1_500),
      logs: code === 0 ? [] : logs,
    }).toEqual({ code: 0, last: '', err: '', logs: [] });
    expect(readdirSync(dir)).toEqual(expect.arrayContaining(['tocsin.backup', 'before-upgrade.backup']));
    printMeasurements('cluster page', { blocks: commands.length, ms: performance.now() - begunAt });
  }, 600_000);
});
