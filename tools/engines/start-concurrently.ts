type Stoppable = { stop: () => Promise<unknown> };

/**
 * Waits until all parts run and returns them in the given order. If a part fails, waits for the others, stops them,
 * and throws an AggregateError with every error.
 */
export const startConcurrently = async <T extends readonly Stoppable[]>(starting: {
  [Index in keyof T]: Promise<T[Index]>;
}): Promise<T> => {
  const results = await Promise.allSettled<Stoppable>(starting);
  const started: Stoppable[] = [];
  const errors: unknown[] = [];
  for (const result of results) {
    if (result.status === 'fulfilled') started.push(result.value);
    else errors.push(result.reason);
  }
  if (errors.length === 0) return started as unknown as T;
  await stopConcurrently(started);
  throw new AggregateError(
    errors,
    errors.map((error) => (error instanceof Error ? error.message : String(error))).join('; '),
  );
};

/** Stops all parts concurrently. A failure does not prevent the others from stopping. */
export const stopConcurrently = async (started: readonly Stoppable[]): Promise<void> => {
  await Promise.allSettled(started.map((one) => one.stop()));
};
