import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const askMs = 50;
const answerMsMax = 10_000;

/** Prefix of the files that the servers write; the pid follows. */
const filesIn = (dir: string): string => join(dir, 'event-loop-');

/** Environment variables of a server that `loopDelay` can measure. */
export const watchedLoop = (dir: string): Record<string, string> => ({
  NODE_OPTIONS: `--import=${new URL('./watch-loop.ts', import.meta.url).href}`,
  LOOP_DELAY_FILES: filesIn(dir),
});

/** Returns the 99th percentile of the process's event loop delay since the last call, in milliseconds. */
export async function loopDelay(dir: string, pid: number): Promise<number> {
  const file = filesIn(dir) + pid;
  process.kill(pid, 'SIGUSR2');
  for (const end = Date.now() + answerMsMax; Date.now() < end; await pause(askMs)) {
    if (!existsSync(file)) continue;
    const text = readFileSync(file, 'utf8');
    if (text === '') continue; // not yet written
    rmSync(file);
    return (JSON.parse(text) as { p99Ms: number }).p99Ms;
  }
  throw new Error(`process ${pid} did not report its event loop delay`);
}
