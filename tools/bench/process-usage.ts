import { readFileSync } from 'node:fs';

/** The kernel reports CPU time in /proc in hundredths of a second, independent of its own tick. */
const msPerTick = 10;

/** User and system time of the processes since their start, all threads, in milliseconds (Linux). */
export function cpuMs(pids: readonly number[]): number {
  let ticks = 0;
  for (const pid of pids) {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field is the program's name in parentheses, which may contain spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks * msPerTick;
}

/** Current resident memory of the processes, in megabytes. */
export function residentMb(pids: readonly number[]): number {
  let kilobytes = 0;
  for (const pid of pids)
    kilobytes += Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0);
  return kilobytes / 1_024;
}
