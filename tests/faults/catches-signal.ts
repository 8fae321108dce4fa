import { readFileSync } from 'node:fs';
import { constants } from 'node:os';

/** Whether the process handles SIGUSR2, which otherwise ends it. */
export function catchesSignal(pid: number): boolean {
  const [, caught] = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!;
  return ((BigInt(`0x${caught}`) >> BigInt(constants.signals.SIGUSR2 - 1)) & 1n) === 1n;
}
