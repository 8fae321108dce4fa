import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const askMs = 50;
const answerMsMax = 10_000;

/** Where the servers write what they are asked for, but for their pid. */
const filesIn = (dir: string): string => join(dir, 'event-loop-');

/** What a server's environment needs so that `loopDelay` can ask it. */
export const watchedLoop = (dir: string): Record<string, string> => ({
  NODE_OPTIONS: `--import=${new URL('./watch-loop.ts', import.meta.url).href}`,
  LOOP_DELAY_FILES: filesIn(dir),
});

/** How late the process's event loop was since it was asked last: the 99th percentile, in milliseconds. */
export async function loopDelay(dir: string, pid: number): Promise<number> {
  const file = filesIn(dir) + pid;
  process.kill(pid, 'SIGUSR2');
  for (const end = Date.now() + answerMsMax; Date.now() < end; await pause(askMs)) {
    if (!existsSync(file)) continue;
    const text = readFileSync(file, 'utf8');
    if (text === '') continue; // it is being written
    rmSync(file);
    return (JSON.parse(text) as { p99Ms: number }).p99Ms;
  }
  throw new Error(`process ${pid} does not say how late its event loop was`);
}
