import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { testStack } from './stack.ts';

export interface Ran {
  /** Null for one that was killed. */
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Starts `tocsin …`, with the configuration of the stack that all files share by default. */
export function startCommand(
  args: readonly string[],
  env: Environment = testStack().env,
): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, ['cli/main.ts', ...args], { env: { ...process.env, ...env } });
}

/** Runs `tocsin …` to its end, whatever that is. */
export async function runCommand(args: readonly string[], input = '', env?: Environment): Promise<Ran> {
  const child = startCommand(args, env);
  // One that reads nothing can be over before this is written (EPIPE).
  child.stdin.on('error', () => undefined).end(input);
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [out, error, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, out, error };
}

/** What a command prints with `--json`. Throws unless it ended well. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test asserts what it finds
export async function printedBy(args: readonly string[], input = ''): Promise<any> {
  const { code, out, error } = await runCommand([...args, '--json'], input);
  if (code !== 0) throw new Error(`tocsin ${args.join(' ')}: ${code} ${error}`);
  return JSON.parse(out);
}
