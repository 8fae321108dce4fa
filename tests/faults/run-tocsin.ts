import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const root = join(import.meta.dirname, '../..');

/** Runs `tocsin` and resolves with its exit code and output. `env` is its complete configuration. */
export async function runTocsin(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ code: number | null; out: string; err: string }> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, ['cli/main.ts', ...args], {
    cwd: root,
    env: { PATH: PATH ?? '', ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [[code], out, err] = await Promise.all([
    once(child, 'close') as Promise<[number | null]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, out, err };
}
