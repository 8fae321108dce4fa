import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A process of its own that uses a log, to be killed. */
export interface Child {
  /** The whole lines that it has printed. */
  readonly lines: readonly string[];
  /** SIGKILL; resolves when the process is gone and all that it printed is in `lines`. */
  kill(): Promise<void>;
}

const script = fileURLToPath(new URL('./event-log.child.ts', import.meta.url));

/** Starts `event-log.child.ts` on the log at the address. What it says on standard error is shown when it ends by itself. */
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
  const gone = once(process_, 'close').then(() => {
    if (process_.exitCode !== null)
      throw new Error(`the child process ended by itself (${process_.exitCode}): ${complaint}`);
  });
  gone.catch(() => undefined); // shown by kill()
  return {
    lines,
    kill: () => {
      process_.kill('SIGKILL');
      return gone;
    },
  };
}
