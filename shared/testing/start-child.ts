import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A child process that a test kills. */
export interface Child {
  /** The complete lines of its output. */
  readonly lines: readonly string[];
  /** Sends SIGKILL; resolves when the process ended and `lines` is complete. Rejects if it had already exited. */
  kill(): Promise<void>;
}

/** Runs a module in a separate Node process. Shows its standard error if it exits unexpectedly. */
export function startChild(script: string, args: readonly string[]): Child {
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: string[] = [];
  let rest = '';
  let complaint = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop()!;
    lines.push(...parts);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text));
  const closed = once(child, 'close').then(() => {
    if (child.exitCode !== null)
      throw new Error(`the child process exited unexpectedly (${child.exitCode}): ${complaint}`);
  });
  closed.catch(() => undefined); // reported by kill()
  return {
    lines,
    kill: () => {
      child.kill('SIGKILL');
      return closed;
    },
  };
}
