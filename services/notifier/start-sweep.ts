import { coalescedPause } from '@tocsin/shared/async/coalesced-timer.ts';
import { isUnavailable } from '@tocsin/shared/domain/errors.ts';
import type { PushDeps } from './sending/push-deps.ts';

/** The pause between two sweeps is at most a quarter longer. */
const everyMs = 1_000;

/** Sweeps every second until `closing` is aborted. Resolves with a function that waits for the last sweep. */
export function startSweep(
  deps: Pick<PushDeps, 'closing' | 'log'>,
  what: string,
  sweep: () => Promise<void>,
): { close(): Promise<void> } {
  const running = run(deps, what, sweep);
  return { close: () => running };
}

async function run(
  { closing, log }: Pick<PushDeps, 'closing' | 'log'>,
  what: string,
  sweep: () => Promise<void>,
): Promise<void> {
  let isAway = false;
  while (!closing.aborted) {
    try {
      await sweep();
      isAway = false;
    } catch (error) {
      if (!isUnavailable(error) && !closing.aborted)
        log.error({ err: error }, `a sweep of the ${what} failed, retrying`);
      else if (!isAway) log.warn({ err: error }, `store or queue unreachable, ${what} wait`);
      isAway = true;
    }
    await coalescedPause(everyMs, closing);
  }
}
