import type { Closers } from '@tocsin/shared/platform/lifecycle.ts';
import type { Engine } from '../../tools/engines/engine.ts';

/** A way in which an engine fails, and comes back. */
export interface Fault {
  readonly begin: () => Promise<void>;
  readonly end: () => Promise<void>;
}

/** SIGKILL; it comes back on the same port with what it had stored. */
export const killed = (engine: Engine): Fault => ({ begin: () => engine.kill(), end: () => engine.restart() });

/** SIGSTOP: connections stay open and nothing answers, until SIGCONT. */
export const silenced = (engine: Engine): Fault => ({
  begin: async () => engine.pause(),
  end: async () => engine.resume(),
});

/** Begins the fault; it ends when it is told to, or with the test, so that the next one finds the engine as it was. */
export async function startOutage(own: Closers, fault: Fault): Promise<{ end(): Promise<void> }> {
  let ending: Promise<void> | undefined;
  const end = () => (ending ??= fault.end());
  own.add(end);
  await fault.begin();
  return { end };
}
