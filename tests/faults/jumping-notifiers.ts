import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChildProcess } from 'node:child_process';
import type { Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import type { PushPlace } from './push-place.ts';

const patienceMs = 120_000;
const jumpingClock = new URL('jumping-clock.ts', import.meta.url).href;

/** Notifiers of a place whose clocks a test advances. */
export interface JumpingNotifiers {
  /** How far their clocks are ahead, in milliseconds; applies to those that start later. */
  aheadMs: number;
  /** Resolves once the clock can be set. */
  start(): Promise<ChildProcess>;
  /** Advances the clock of a notifier. */
  jump(child: ChildProcess, ms: number): void;
}

export function jumpingNotifiers(
  place: PushPlace,
  { own, env }: { readonly own: Closers; readonly env: Readonly<Record<string, string>> },
): JumpingNotifiers {
  const clocksDir = mkdtempSync(join(tmpdir(), 'tocsin-clocks-'));
  own.add(() => rmSync(clocksDir, { recursive: true }));
  const notifiers: JumpingNotifiers = {
    aheadMs: 0,
    async start() {
      const child = place.startNotifier({
        ...env,
        NODE_OPTIONS: `--import=${jumpingClock}`,
        CLOCKS_DIR: clocksDir,
        CLOCK_AHEAD_MS: String(notifiers.aheadMs),
      });
      await eventually(() => catchesSignal(child.pid!), { timeoutMs: patienceMs });
      return child;
    },
    jump({ pid }, ms) {
      notifiers.aheadMs += ms;
      writeFileSync(join(clocksDir, String(pid)), String(notifiers.aheadMs));
      process.kill(pid!, 'SIGUSR2');
    },
  };
  return notifiers;
}

/** Whether the process handles SIGUSR2, which otherwise ends it. */
function catchesSignal(pid: number): boolean {
  const [, caught] = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!;
  return ((BigInt(`0x${caught}`) >> BigInt(constants.signals.SIGUSR2 - 1)) & 1n) === 1n;
}
