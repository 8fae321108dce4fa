type Stoppable = { stop: () => Promise<unknown> };

/**
 * What was started side by side, in the given order, once all of it runs. When a part fails, the others are awaited
 * and stopped before an AggregateError with every part's error is thrown.
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

/** Stops all side by side, and goes on with the others when one cannot be stopped. */
export const stopConcurrently = async (started: readonly Stoppable[]): Promise<void> => {
  await Promise.allSettled(started.map((one) => one.stop()));
};
