/** Something to close. */
export type Closer = () => void | Promise<void>;

/** Collects closers while parts open, and closes them last-in-first-out. */
export interface Closers {
  add(close: Closer): void;
  /** Runs all of them once; goes on when one fails, and then throws the failures together. */
  closeAll(): Promise<void>;
}

export function closers(): Closers {
  const list: Closer[] = [];
  return {
    add(close) {
      list.push(close);
    },
    async closeAll() {
      const failures: unknown[] = [];
      for (let close = list.pop(); close !== undefined; close = list.pop()) {
        try {
          await close();
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length === 1) throw failures[0];
      if (failures.length > 1) throw new AggregateError(failures, 'several parts failed to close');
    },
  };
}

/** Closes parts that do not rest on each other, side by side; waits for all, and then throws the failures together. */
export async function closeTogether(parts: readonly { close(): Promise<void> }[]): Promise<void> {
  const outcomes = await Promise.allSettled(parts.map((part) => part.close()));
  const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
  if (failures.length > 0) throw new AggregateError(failures, 'several parts failed to close');
}

/** Opens parts; if that throws halfway, what is open is closed again before the error rises. */
export async function withClosers<T>(open: (own: Closers) => Promise<T>): Promise<T> {
  const own = closers();
  try {
    return await open(own);
  } catch (error) {
    await own.closeAll().catch(() => undefined); // the first error is the one that tells
    throw error;
  }
}
