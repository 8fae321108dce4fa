import { setTimeout as sleep } from 'node:timers/promises';

export interface UntilDoneOptions {
  /** Ends the retries. */
  readonly signal: AbortSignal;
  /** Called with each failure and the following pause. */
  readonly onFailure: (error: unknown, pauseMs: number) => void;
  /** Pauses double from the first to the longest, so that immediate failures do not occupy a core. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
}

/**
 * Retries the work until it succeeds and resolves with its value, or with undefined if the signal was aborted
 * before that. Never rejects.
 */
export async function untilDone<T>(work: () => T | Promise<T>, options: UntilDoneOptions): Promise<T | undefined> {
  const { signal, onFailure, longestPauseMs } = options;
  for (let pauseMs = options.firstPauseMs; !signal.aborted; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted) return undefined;
      onFailure(error, pauseMs);
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined); // the abort ends the pause early
  }
  return undefined;
}
