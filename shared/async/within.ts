/** What `within` was given did not settle in its time. */
export class TookTooLong extends Error {
  constructor(what: string, timeoutMs: number) {
    super(`${what} took longer than ${timeoutMs} ms`);
    this.name = 'TookTooLong';
  }
}

/**
 * The promise's outcome, or TookTooLong after the time. What it waited for goes on unseen: whoever gives up on it must
 * cut it off as well.
 */
export async function within<T>(timeoutMs: number, what: string, promise: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new TookTooLong(what, timeoutMs)), timeoutMs);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
    promise.catch(() => undefined); // its late failure is nobody's any more
  }
}
