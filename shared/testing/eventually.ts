import { inspect } from 'node:util';

export type EventuallyOptions = {
  /** The deadline of the condition. */
  timeoutMs?: number;
  /** The pause between two checks. Default: 25 ms, later a twentieth of the elapsed time, at most 100 ms. */
  intervalMs?: number;
};

/** Below Jest's limit of 120 s, so that the condition's error is shown instead of Jest's. */
const timeoutMsDefault = 60_000;
/** Grows with the elapsed time, so that a long wait takes little CPU time from the server. */
const intervalMsAfter = (waitedMs: number): number => Math.min(Math.max(25, waitedMs / 20), 100);

/**
 * Calls `condition` until it holds, and returns its value. A condition holds if it returns anything but `false` and
 * does not throw: `() => count === 3` or `() => expect(count).toBe(3)`. At the deadline, throws an error with the last
 * failure as its cause, even if the condition hangs.
 */
export const eventually = async <T>(
  condition: () => T | Promise<T>,
  { timeoutMs = timeoutMsDefault, intervalMs }: EventuallyOptions = {},
): Promise<Exclude<T, false>> => {
  const startedAt = performance.now();
  const deadline = startedAt + timeoutMs;
  let lastFailure: unknown = new Error('the condition did not return in time');
  for (let isFirst = true; isFirst || performance.now() < deadline; isFirst = false) {
    const now = performance.now();
    if (!isFirst) await pause(Math.min(intervalMs ?? intervalMsAfter(now - startedAt), deadline - now));
    const outcome = await attempt(condition, deadline - performance.now());
    if (outcome.kind === 'held') return outcome.value as Exclude<T, false>;
    if (outcome.kind === 'failed') lastFailure = outcome.failure;
  }
  throw new Error(`Did not hold within ${timeoutMs} ms. Last failure: ${describeFailure(lastFailure)}`, {
    cause: lastFailure,
  });
};

type Outcome<T> = { kind: 'held'; value: T } | { kind: 'failed'; failure: unknown } | { kind: 'hung' };

/** Checks the condition once, for at most `patienceMs`. */
const attempt = async <T>(condition: () => T | Promise<T>, patienceMs: number): Promise<Outcome<T>> => {
  let timer: NodeJS.Timeout | undefined;
  const givingUp = new Promise<Outcome<T>>((resolve) => {
    timer = setTimeout(resolve, Math.max(patienceMs, 1), { kind: 'hung' });
  });
  const looking = (async (): Promise<Outcome<T>> => {
    try {
      const value = await condition();
      return value === false ? { kind: 'failed', failure: new Error('it was false') } : { kind: 'held', value };
    } catch (failure) {
      return { kind: 'failed', failure };
    }
  })();
  try {
    return await Promise.race([looking, givingUp]);
  } finally {
    clearTimeout(timer);
  }
};

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, Math.max(ms, 1)));

const describeFailure = (failure: unknown) => (failure instanceof Error ? failure.message : inspect(failure));
