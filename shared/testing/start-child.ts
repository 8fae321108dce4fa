import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A process of its own, to be killed. */
export interface Child {
  /** The whole lines that it has printed. */
  readonly lines: readonly string[];
  /** SIGKILL; resolves when the process is gone and all that it printed is in `lines`. Rejects when it had ended by itself. */
  kill(): Promise<void>;
}

/** Runs a module in a Node process of its own. What it says on standard error is shown when it ends by itself. */
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
  const gone = once(child, 'close').then(() => {
    if (child.exitCode !== null) throw new Error(`the child process ended by itself (${child.exitCode}): ${complaint}`);
  });
  gone.catch(() => undefined); // shown by kill()
  return {
    lines,
    kill: () => {
      child.kill('SIGKILL');
      return gone;
    },
  };
}
