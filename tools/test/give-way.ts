import { writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

const niceMost = constants.priority.PRIORITY_LOW;

/**
 * Lets every other process of the machine go before this one, the leader of a session that has started nothing yet; what it
 * starts is treated likewise.
 */
export const giveWay = (pid: number): void => {
  setPriority(pid, niceMost);
  try {
    // Linux weighs whole sessions against each other first, and a process only against those of its own: sched(7), "The autogroup feature".
    writeFileSync(`/proc/${pid}/autogroup`, String(niceMost));
  } catch {
    // Where there are no such groups the priority says it all.
  }
};
