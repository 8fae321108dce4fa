import { unavailable } from '../domain/errors.ts';

export interface WriteBatcherOptions {
  /** Items per write, unless a single call has more. */
  readonly batchSizeMax: number;
  /** Concurrent writes. */
  readonly writesMax: number;
  /** Queued and running items; further calls are rejected, so that a hanging store cannot fill the memory. */
  readonly itemsMax: number;
}

interface Call<T> {
  readonly items: readonly T[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A write batcher: calls during a write share the next write, so that the cost per item falls under load. A call
 * resolves when its items are written, and rejects with the error of its write. Items of different calls may be
 * reordered.
 */
export function writeBatcher<T>(
  write: (items: readonly T[]) => Promise<void>,
  options: WriteBatcherOptions,
): (items: readonly T[]) => Promise<void> {
  const waiting: Call<T>[] = [];
  let itemsHeld = 0;
  let writes = 0;
  let isScheduled = false;

  const takeBatch = (): Call<T>[] => {
    let items = 0;
    let calls = 0;
    while (calls < waiting.length && (calls === 0 || items + waiting[calls]!.items.length <= options.batchSizeMax)) {
      items += waiting[calls]!.items.length;
      calls += 1;
    }
    return waiting.splice(0, calls);
  };

  const writeBatch = async (batch: readonly Call<T>[]): Promise<void> => {
    const items = batch.flatMap((call) => call.items);
    try {
      await write(items);
      for (const call of batch) call.resolve();
    } catch (error) {
      for (const call of batch) call.reject(error);
    } finally {
      writes -= 1;
      itemsHeld -= items.length;
      flush();
    }
  };

  const flush = (): void => {
    isScheduled = false;
    while (writes < options.writesMax && waiting.length > 0) {
      writes += 1;
      void writeBatch(takeBatch());
    }
  };

  return (items) => {
    if (itemsHeld + items.length > options.itemsMax) return Promise.reject(unavailable('Database'));
    return new Promise<void>((resolve, reject) => {
      waiting.push({ items, resolve, reject });
      itemsHeld += items.length;
      // Waits for the end of the tick: publishes that the log acknowledged in one response share a write.
      if (!isScheduled) setImmediate(flush);
      isScheduled = true;
    });
  };
}
