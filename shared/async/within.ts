/** The promise passed to `within` did not settle in time. */
export class TookTooLong extends Error {
  constructor(what: string, timeoutMs: number) {
    super(`${what} took longer than ${timeoutMs} ms`);
    this.name = 'TookTooLong';
  }
}

/**
 * Settles like the promise, or rejects with TookTooLong after the timeout. The operation continues; the caller must
 * cancel it.
 */
export async function within<T>(timeoutMs: number, what: string, promise: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new TookTooLong(what, timeoutMs)), timeoutMs);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
    promise.catch(() => undefined); // ignores a late failure
  }
}
