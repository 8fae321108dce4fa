import type { Closers } from '@tocsin/shared/platform/lifecycle.ts';
import type { Engine } from '../../tools/engines/engine.ts';

/** A way in which an engine fails and recovers. */
export interface Fault {
  readonly begin: () => Promise<void>;
  readonly end: () => Promise<void>;
}

/** SIGKILL; it restarts on the same port with its data. */
export const killed = (engine: Engine): Fault => ({ begin: () => engine.kill(), end: () => engine.restart() });

/** SIGSTOP: connections stay open and nothing answers, until SIGCONT. */
export const silenced = (engine: Engine): Fault => ({
  begin: async () => engine.pause(),
  end: async () => engine.resume(),
});

/** Starts the fault, which ends on request or with the test, so that the next test finds a working engine. */
export async function startOutage(own: Closers, fault: Fault): Promise<{ end(): Promise<void> }> {
  let ending: Promise<void> | undefined;
  const end = () => (ending ??= fault.end());
  own.add(end);
  await fault.begin();
  return { end };
}
