import { writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

const niceMost = constants.priority.PRIORITY_LOW;
/** Without root's rights Linux takes such a wish ten times a second, whoever has it: of several parts that start at once the others ask again. */
const retryMs = 110;
const triesMax = 30;

/**
 * Lets every other process of the machine go before this one, the leader of a session that has started nothing yet; what it
 * starts is treated likewise. Resolves when that is so, or when the system knows no more than priorities.
 */
export const lowerPriority = async (pid: number): Promise<void> => {
  setPriority(pid, niceMost); // at once, since what it starts inherits it
  for (let tries = 0; tries < triesMax; tries += 1) {
    try {
      // Linux weighs whole sessions against each other first, and a process only against those of its own: sched(7), "The autogroup feature".
      writeFileSync(`/proc/${pid}/autogroup`, String(niceMost));
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return; // there are no such groups, or the process has ended
    }
    await sleep(retryMs);
  }
};
