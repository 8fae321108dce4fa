import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/**
 * When the process `pid` started, in a form that only compares, or `undefined` when it is gone (a zombie counts as
 * gone). A recorded pid together with this is never mistaken for a later process that was given the same number.
 */
export const processIdentity = (pid: number): string | undefined =>
  existsSync('/proc/self/stat') ? identityFromProc(pid) : identityFromPs(pid);

const identityFromProc = (pid: number) => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in parentheses and may hold anything, so count from its end.
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
