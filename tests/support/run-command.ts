import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { builtProgram } from '../../tools/stack/built-program.ts';
import { testStack } from './stack.ts';

export interface Ran {
  /** Null if the process was killed. */
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

const root = join(import.meta.dirname, '../..');

type Environment = Readonly<Record<string, string | undefined>>;

/** Starts `tocsin …` with the configuration of the shared stack by default. */
export function startCommand(
  args: readonly string[],
  env: Environment = testStack().env,
  cwd = root,
): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [builtProgram(join(root, 'cli/main.ts')), ...args], {
    cwd,
    env: { ...process.env, ...env },
  });
}

/** Runs `tocsin …` and resolves with its result, successful or not. */
export async function runCommand(args: readonly string[], input = '', env?: Environment, cwd?: string): Promise<Ran> {
  const child = startCommand(args, env, cwd);
  // A process that does not read its input may exit before it is written (EPIPE).
  child.stdin.on('error', () => undefined).end(input);
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [out, error, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, out, error };
}

/** The output of a command with `--json`. Throws if the command fails. */
// oxlint-disable-next-line typescript/no-explicit-any -- a test asserts what it finds
export async function printedBy(args: readonly string[], input = ''): Promise<any> {
  const { code, out, error } = await runCommand([...args, '--json'], input);
  if (code !== 0) throw new Error(`tocsin ${args.join(' ')}: ${code} ${error}`);
  return JSON.parse(out);
}
