import { Session } from 'node:inspector/promises';

/**
 * Collects garbage and returns free memory to the system, in about 0.1 s. Loading modules leaves 30 MB of unused heap,
 * which V8 keeps until it is needed, because a server without requests does not cause a collection.
 */
export async function collectGarbage(): Promise<void> {
  const session = new Session();
  session.connect();
  try {
    await session.post('HeapProfiler.collectGarbage');
  } finally {
    session.disconnect();
  }
}
