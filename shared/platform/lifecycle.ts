/** A function that closes a component. */
export type CloseFunction = () => void | Promise<void>;

/** Collects close functions while components open, and runs them in reverse order. */
export interface Closers {
  add(close: CloseFunction): void;
  /** Runs each close function once. Continues after a failure and throws all failures at the end. */
  closeAll(): Promise<void>;
}

export function closers(): Closers {
  const list: CloseFunction[] = [];
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
      if (failures.length > 1) throw new AggregateError(failures, 'several components failed to close');
    },
  };
}

/** Closes independent components concurrently. Waits for all and throws all failures at the end. */
export async function closeConcurrently(parts: readonly { close(): Promise<void> }[]): Promise<void> {
  const outcomes = await Promise.allSettled(parts.map((part) => part.close()));
  const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
  if (failures.length > 0) throw new AggregateError(failures, 'several components failed to close');
}

/** Opens components. If one fails, closes those already open and rethrows the error. */
export async function withClosers<T>(open: (own: Closers) => Promise<T>): Promise<T> {
  const own = closers();
  try {
    return await open(own);
  } catch (error) {
    await own.closeAll().catch(() => undefined); // the first error shows the cause
    throw error;
  }
}
