import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findProgram } from '../../tools/engines/find-program.ts';
import type { Stack } from '../../tools/stack/start-stack.ts';
import { describeUnlessMissing } from '../../tools/test/describe-unless-missing.ts';
import { startOwnStack } from '../support/own-stack.ts';

const root = join(import.meta.dirname, '../..');

/** The lines of the README's session as a user pastes them. */
function session(): string {
  const block = /```sh session\n([\s\S]*?)```/.exec(readFileSync(join(root, 'README.md'), 'utf8'));
  if (block === null) throw new Error('the README has no session');
  return block[1]!;
}

describeUnlessMissing('the README', findProgram('curl') === undefined ? ['curl'] : [], () => {
  let stack: Stack;
  let configDir: string;

  beforeAll(async () => {
    stack = await startOwnStack();
    configDir = mkdtempSync(join(tmpdir(), 'tocsin-config-'));
  });

  afterAll(async () => {
    rmSync(configDir, { recursive: true });
    await stack?.stop();
  });

  test('delivers a message to all four readers with a session of at most ten lines', async () => {
    const lines = session();
    expect(lines).not.toContain('sed');
    expect(lines.trim().split('\n').length).toBeLessThanOrEqual(10);
    // A loaded machine takes many times as long to start a process.
    const patient = lines.replaceAll(/sleep (\d+)/g, (_, seconds) => `sleep ${5 * Number(seconds)}`);
    const script = patient.replaceAll('localhost:8080', new URL(stack.urls[0]!).host);
    const env = {
      ...process.env,
      ...stack.env,
      TOCSIN_URL: stack.urls[0],
      XDG_CONFIG_HOME: configDir,
      NODE_OPTIONS: '',
    };
    const { stdout } = await promisify(execFile)('bash', ['-c', `set -m\n${script}`], {
      cwd: root,
      env,
      timeout: 100_000,
    });

    expect(stdout).toContain('event: ready');
    expect(stdout).toMatch(/event: message\ndata: \{.*"message":"Nightly backup finished"/);
    expect(stdout).toMatch(/\{"type":"message",.*"message":"Nightly backup finished"/);
    expect(stdout).toMatch(/\{"messages":\[\{.*"message":"Nightly backup finished".*\],"topic":"backups","count":1\}/);
    expect(stdout).toMatch(/"records":\[\{"offset":\d+,"type":"message",.*"title":"Backups".*"next_offset":\d+[,}]/);
  });
});
