/** Resolves when all of them have settled, whichever way, or after the time. Never rejects; what is late goes on unseen. */
export async function settledWithin(timeoutMs: number, promises: readonly Promise<unknown>[]): Promise<void> {
  const timeout = Promise.withResolvers<void>();
  const timer = setTimeout(timeout.resolve, timeoutMs);
  await Promise.race([Promise.allSettled(promises), timeout.promise]);
  clearTimeout(timer);
}
