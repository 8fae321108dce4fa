/**
 * The promise's outcome, or an error after the time. What it waited for goes on unseen: whoever gives up on it must
 * cut it off as well.
 */
export async function within<T>(timeoutMs: number, what: string, promise: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`${what} took longer than ${timeoutMs} ms`)), timeoutMs);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
    promise.catch(() => undefined); // its late failure is nobody's any more
  }
}
