import { setTimeout as sleep } from 'node:timers/promises';

export interface UntilDoneOptions {
  /** Ends the trying. */
  readonly signal: AbortSignal;
  /** Told of each failure and of the pause that follows it. */
  readonly onFailure: (error: unknown, pauseMs: number) => void;
  /** Pauses double from the first to the longest, so that what fails at once does not keep a core busy. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
}

/**
 * Does the work again until it succeeds, and resolves with its value; with undefined when the signal was aborted
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
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined); // woken early by the abort
  }
  return undefined;
}
