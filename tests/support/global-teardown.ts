import type { Stack } from '../../tools/stack/start-stack.ts';

/** Stops the stack that the global setup started. */
export default async function globalTeardown(): Promise<void> {
  await (globalThis as { tocsinStack?: Stack }).tocsinStack?.stop();
}
