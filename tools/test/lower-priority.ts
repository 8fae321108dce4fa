import { writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

const niceMost = constants.priority.PRIORITY_LOW;
/**
 * Linux accepts ten such changes per second from all non-root processes, so parts that start concurrently must retry.
 */
const retryMs = 110;
const triesMax = 30;

/**
 * Gives the lowest priority to a process that leads a session and has started no children yet; its children inherit the
 * priority. Resolves when the priority is set, including that of the session if the system supports it.
 */
export const lowerPriority = async (pid: number): Promise<void> => {
  setPriority(pid, niceMost); // immediately, because children inherit it
  for (let tries = 0; tries < triesMax; tries += 1) {
    try {
      // Linux first divides CPU time between sessions, then within each session: sched(7), "The autogroup feature".
      writeFileSync(`/proc/${pid}/autogroup`, String(niceMost));
      return;
    } catch (error) {
      // Autogroups are not supported, or the process has exited.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
    }
    await sleep(retryMs);
  }
};
