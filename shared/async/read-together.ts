interface Waiting<V> {
  readonly resolve: (value: V | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Lets lookups share reads: keys asked for in one turn, or while a read is under way, go into the next one together, each
 * once. A value is never older than the call that asked for it: the read that serves a call begins after the call.
 * Resolves with undefined for a key that the read gave nothing for, and rejects with the error of its read.
 */
export function readTogether<K, V>(
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
    await Promise.resolve(); // those who ask in this turn come along
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
