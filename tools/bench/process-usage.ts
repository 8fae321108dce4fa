import { readFileSync } from 'node:fs';

/** The kernel counts CPU time in hundredths of a second for /proc, whatever its own tick is. */
const msPerTick = 10;

/** User and system time that the processes have used since they started, of all their threads, in milliseconds (Linux). */
export function cpuMs(pids: readonly number[]): number {
  let ticks = 0;
  for (const pid of pids) {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field is the program's name in parentheses, which may hold spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks * msPerTick;
}

/** Memory that the processes hold now, in megabytes. */
export function residentMb(pids: readonly number[]): number {
  let kilobytes = 0;
  for (const pid of pids)
    kilobytes += Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0);
  return kilobytes / 1_024;
}
