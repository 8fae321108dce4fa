import type { Stack } from '../../tools/stack/start-stack.ts';

/** Stops what the global setup started. */
export default async function globalTeardown(): Promise<void> {
  await (globalThis as { tocsinStack?: Stack }).tocsinStack?.stop();
}
