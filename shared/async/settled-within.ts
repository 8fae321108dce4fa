/** Resolves when all promises have settled or after the timeout. Never rejects; ignores late results. */
export async function settledWithin(timeoutMs: number, promises: readonly Promise<unknown>[]): Promise<void> {
  const timeout = Promise.withResolvers<void>();
  const timer = setTimeout(timeout.resolve, timeoutMs);
  await Promise.race([Promise.allSettled(promises), timeout.promise]);
  clearTimeout(timer);
}
