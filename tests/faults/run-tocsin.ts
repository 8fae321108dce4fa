import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { builtProgram } from '../../tools/stack/built-program.ts';

const root = join(import.meta.dirname, '../..');

const spawnTocsin = (args: readonly string[], env: Readonly<Record<string, string>>, out: 'pipe' | 'ignore') => {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return spawn(process.execPath, [builtProgram('cli/main.ts'), ...args], {
    cwd: root,
    env: { PATH: PATH ?? '', ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }), ...env },
    stdio: ['ignore', out, 'pipe'],
  });
};

/** Runs `tocsin` and resolves with its exit code and output. `env` is its complete configuration. */
export async function runTocsin(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawnTocsin(args, env, 'pipe');
  const [[code], out, err] = await Promise.all([
    once(child, 'close') as Promise<[number | null]>,
    text(child.stdout!),
    text(child.stderr!),
  ]);
  return { code, out, err };
}

/** What a command needed: its duration, its highest memory without mapped files, and its lines on standard error. */
export interface CommandCost {
  readonly seconds: number;
  readonly memoryMb: number;
  readonly lines: readonly string[];
}

/** Runs `tocsin` like `runTocsin`, measures it, and throws if it fails. */
export async function measureTocsin(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<CommandCost> {
  const beganAt = performance.now();
  const child = spawnTocsin(args, env, 'ignore');
  let memoryMb = 0;
  const timer = setInterval(() => (memoryMb = Math.max(memoryMb, ownMb(child))), memoryEveryMs);
  const lines: string[] = [];
  const closed = once(child, 'close') as Promise<[number | null]>;
  for await (const line of createInterface({ input: child.stderr! })) lines.push(line);
  const [code] = await closed.finally(() => clearInterval(timer));
  if (code !== 0) throw new Error(`tocsin ${args.join(' ')} ended with ${code}: ${lines.slice(-5).join('; ')}`);
  return { seconds: (performance.now() - beganAt) / 1_000, memoryMb, lines };
}

/** Runs `tocsin` and kills it at the first line on standard error that matches. Resolves with how it ended. */
export async function killTocsinAt(
  isReached: (line: string) => boolean,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string | null> {
  const child = spawnTocsin(args, env, 'ignore');
  const closed = once(child, 'close') as Promise<[number | null, string | null]>;
  for await (const line of createInterface({ input: child.stderr! })) if (isReached(line)) child.kill('SIGKILL');
  return (await closed)[1];
}

const memoryEveryMs = 20;

/** The memory of the process without the files that it maps (Linux); 0 once it has ended. */
function ownMb({ pid }: ChildProcess): number {
  try {
    return Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024;
  } catch {
    return 0;
  }
}
