import { setTimeout as sleep } from 'node:timers/promises';

export interface UntilDoneOptions {
  /** Ends the retries. */
  readonly signal: AbortSignal;
  /** Called with an error and the number of failures so far: for the first failures, and then less and less often. */
  readonly onFailure: (error: unknown, failures: number) => void;
}

/** The time by which the work is retried; tests replace it. */
export interface RetryTime {
  nowMs(): number;
  /** Resolves after the pause or with the abort of the signal. */
  pause(ms: number, signal: AbortSignal): Promise<unknown>;
}

/**
 * The pauses between attempts double from the first to the longest: immediate failures do not occupy a core, and the
 * work resumes within a second after an outage.
 */
const pauseMs = { first: 100, longest: 1_000 } as const;
/** The minimum time between two calls of `onFailure` doubles, too: a long outage does not fill the log. */
const reportMs = { first: 100, longest: 10_000 } as const;

const realTime: RetryTime = {
  nowMs: () => performance.now(),
  pause: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined),
};

/**
 * Retries the work until it succeeds and resolves with its value, or with undefined if the signal was aborted
 * before that. Never rejects.
 */
export async function untilDone<T>(
  work: () => T | Promise<T>,
  { signal, onFailure }: UntilDoneOptions,
  time: RetryTime = realTime,
): Promise<T | undefined> {
  let pause: number = pauseMs.first;
  let reportEvery: number = reportMs.first;
  let reportAt = -Infinity;
  for (let failures = 1; !signal.aborted; failures += 1) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted) return undefined;
      const now = time.nowMs();
      if (now >= reportAt) {
        onFailure(error, failures);
        reportAt = now + reportEvery;
        reportEvery = Math.min(reportEvery * 2, reportMs.longest);
      }
    }
    await time.pause(pause, signal);
    pause = Math.min(pause * 2, pauseMs.longest);
  }
  return undefined;
}
