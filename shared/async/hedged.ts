/**
 * Starts the attempts in order, each when the previous one has failed or has not settled after the pause. Resolves with
 * the first success; rejects with the last failure if all fail. Other attempts continue, and their results are ignored.
 */
export function hedged<T>(attempts: readonly (() => Promise<T>)[], pauseMs: number): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  if (attempts.length === 0) reject(new Error('there is nothing to attempt'));
  let timer: NodeJS.Timeout | undefined;
  let started = 0;
  let failed = 0;
  const startNext = (): void => {
    clearTimeout(timer);
    const attempt = attempts[started];
    if (attempt === undefined) return;
    started += 1;
    if (started < attempts.length) timer = setTimeout(startNext, pauseMs);
    attempt().then(succeed, fail);
  };
  const succeed = (value: T): void => {
    clearTimeout(timer);
    started = attempts.length;
    resolve(value);
  };
  const fail = (error: unknown): void => {
    failed += 1;
    if (failed === attempts.length) reject(error);
    else startNext();
  };
  startNext();
  return promise;
}
