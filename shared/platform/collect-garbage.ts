import { setFlagsFromString } from 'node:v8';
import { Session } from 'node:inspector/promises';

/**
 * Collects garbage and returns free memory to the system, in about 0.1 s. Loading modules leaves 30 MB of unused heap,
 * which V8 keeps until it is needed, because a server without requests does not cause a collection.
 *
 * The collection shrinks V8's space for young objects to 1 MB. Under load that space then grows by a factor of four at
 * a time instead of two: while it is small, collections are frequent and cost reads of the log 5 % of their rate.
 */
export async function collectGarbage(): Promise<void> {
  const session = new Session();
  session.connect();
  try {
    await session.post('HeapProfiler.collectGarbage');
  } finally {
    session.disconnect();
  }
  setFlagsFromString('--semi-space-growth-factor=4');
}
