import { setTimeout as pause } from 'node:timers/promises';
import type { PlacedRecord } from '@tocsin/shared/domain/messages/log-record.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';

/** For a batch that the store could not take at once. */
const triesMax = 10;

/** Applying is idempotent, so what failed is tried again: a database at its limit refuses now and then. */
export async function applyRecords({ messages }: Engine, placed: readonly PlacedRecord[]): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await messages.apply(placed);
      return;
    } catch (error) {
      if (tries === triesMax) throw error;
      await pause(100 * tries);
    }
  }
}

/**
 * Takes the workers to the end of the log, which is these messages when it is embedded: otherwise the server would work through
 * a million of them while it is measured.
 */
export async function skipToLogEnd(engine: Engine, end: number): Promise<void> {
  for (const group of ['fanout', 'notifier']) {
    const arrived = Promise.withResolvers<void>();
    const member = await engine.eventLog.consume({
      group,
      startAt: async () => end - 1,
      onBatch: async () => arrived.resolve(),
    });
    await arrived.promise;
    await member.close();
  }
  await engine.close();
}
