import { setTimeout as pause } from 'node:timers/promises';
import { isUnavailable } from '@tocsin/shared/domain/errors.ts';
import type { EscalationDeps } from './escalation-deps.ts';
import { sweepEscalations } from './sweep-escalations.ts';

/** The maximum delay of a page. */
const everyMs = 1_000;

/**
 * Sweeps the due escalations every second until `closing` is aborted. Resolves with a function that waits for the last
 * sweep.
 */
export function startEscalations(deps: EscalationDeps): { close(): Promise<void> } {
  const running = run(deps);
  return { close: () => running };
}

async function run(deps: EscalationDeps): Promise<void> {
  let isAway = false;
  while (!deps.closing.aborted) {
    try {
      await sweepEscalations(deps);
      isAway = false;
    } catch (error) {
      if (!isUnavailable(error) && !deps.closing.aborted)
        deps.log.error({ err: error }, 'a sweep of the escalations failed, retrying');
      else if (!isAway) deps.log.warn({ err: error }, 'store or queue unreachable, escalations wait');
      isAway = true;
    }
    await pause(everyMs, undefined, { signal: deps.closing }).catch(() => undefined);
  }
}
