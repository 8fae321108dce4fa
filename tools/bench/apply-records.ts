import { setTimeout as pause } from 'node:timers/promises';
import type { PlacedRecord } from '@tocsin/shared/domain/messages/log-record.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';

/** Attempts per batch. */
const triesMax = 10;

/**
 * Applies the records. Retries errors, because an overloaded database rejects some writes and applying is idempotent.
 */
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
 * Commits the end of the log as the offset of each consumer group. Without it, an embedded server would process the
 * seeded messages, which are its log, while the benchmark measures it.
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
