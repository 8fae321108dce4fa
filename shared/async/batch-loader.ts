interface Waiting<V> {
  readonly resolve: (value: V | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A batch loader: keys requested in one tick, or while a read runs, are deduplicated and share the next read. A value
 * is never older than the call, because its read starts after the call. Resolves with undefined for a missing key, and
 * rejects with the error of the read.
 */
export function batchLoader<K, V>(
  read: (keys: K[]) => Promise<ReadonlyMap<K, V>>,
  keysMax: number,
): (key: K) => Promise<V | undefined> {
  const waiting = new Map<K, Waiting<V>[]>();
  let isReading = false;

  const readNext = async (): Promise<void> => {
    const batch = [...waiting].slice(0, keysMax);
    for (const [key] of batch) waiting.delete(key);
    try {
      const values = await read(batch.map(([key]) => key));
      for (const [key, calls] of batch) for (const call of calls) call.resolve(values.get(key));
    } catch (error) {
      for (const [, calls] of batch) for (const call of calls) call.reject(error);
    }
  };

  const readAll = async (): Promise<void> => {
    await Promise.resolve(); // includes other calls of this tick
    while (waiting.size > 0) await readNext();
    isReading = false;
  };

  return (key) =>
    new Promise((resolve, reject) => {
      const calls = waiting.get(key);
      if (calls === undefined) waiting.set(key, [{ resolve, reject }]);
      else calls.push({ resolve, reject });
      if (isReading) return;
      isReading = true;
      void readAll();
    });
}

/** A batch loader for yes-or-no questions: `find` returns those of the keys for which the answer is yes. */
export function batchCheck<K>(
  find: (keys: K[]) => Promise<Iterable<K>>,
  keysMax: number,
): (key: K) => Promise<boolean> {
  const load = batchLoader<K, true>(
    async (keys) => new Map([...(await find(keys))].map((key) => [key, true])),
    keysMax,
  );
  return async (key) => (await load(key)) === true;
}
