import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A child process that uses a log and is killed by the test. */
export interface Child {
  /** The complete lines of its output. */
  readonly lines: readonly string[];
  /** Sends SIGKILL; resolves when the process ended and `lines` is complete. */
  kill(): Promise<void>;
}

const script = fileURLToPath(new URL('./event-log.child.ts', import.meta.url));

/** Starts `event-log.child.ts` on the log at the address. Shows its standard error if it exits unexpectedly. */
export function startChild(mode: 'append' | 'consume', log: { module: string; address: string }, group = ''): Child {
  const process_ = spawn(process.execPath, [script, mode, log.module, log.address, group], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  let rest = '';
  let complaint = '';
  process_.stdout.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop()!;
    lines.push(...parts);
  });
  process_.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text));
  const closed = once(process_, 'close').then(() => {
    if (process_.exitCode !== null)
      throw new Error(`the child process exited unexpectedly (${process_.exitCode}): ${complaint}`);
  });
  closed.catch(() => undefined); // reported by kill()
  return {
    lines,
    kill: () => {
      process_.kill('SIGKILL');
      return closed;
    },
  };
}
