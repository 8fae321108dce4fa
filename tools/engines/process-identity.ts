import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/**
 * Returns the start time of the process `pid` in an opaque form, or `undefined` if it does not exist (a zombie counts
 * as exited). A pid together with this value identifies a process even if the pid is reused.
 */
export const processIdentity = (pid: number): string | undefined =>
  existsSync('/proc/self/stat') ? identityFromProc(pid) : identityFromPs(pid);

const identityFromProc = (pid: number) => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in parentheses with arbitrary characters, so parse after its end.
    const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || state === 'X' ? undefined : rest[18];
  } catch {
    return undefined;
  }
};

const identityFromPs = (pid: number) => {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    return line === '' || line.startsWith('Z') ? undefined : line.slice(line.indexOf(' ')).trim();
  } catch {
    return undefined;
  }
};
