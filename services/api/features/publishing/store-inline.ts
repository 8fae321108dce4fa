import type { PlacedRecord } from '@tocsin/shared/domain/messages/log-record.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import type { Messages } from '@tocsin/shared/ports/messages.ts';

/**
 * A publish waits this long for its document and no longer: it is durable already, the fan-out writes what is missing.
 * Harm prevented by a shorter wait: on a machine that is merely busy, what was acknowledged could not be read yet.
 */
const waitMs = 1_000;
/** After so many misses in a row nobody waits until a probe succeeds. */
const missesMax = 2;
/** Pause between probes while the store misses. */
const probeMs = 1_000;
/** Harm prevented: documents of a store that hangs would fill the memory. What is over is left to the fan-out. */
const waitingMax = 10_000;

interface Waiting {
  readonly record: PlacedRecord;
  readonly done: () => void;
}

/** Writes the documents of publishes that are on the log already, so that they can be read at once. */
export interface InlineStore {
  /** Resolves when the document is stored, or when waiting for it is over. Never rejects. */
  store(record: PlacedRecord): Promise<void>;
}

/** For an engine whose log has stored the document with the record. */
export const storedByLog: InlineStore = { store: () => Promise.resolve() };

/**
 * One bulk write is under way at a time; what arrives meanwhile is the next one. A store that is slow or away costs a
 * publish at most a second, and after two misses nothing.
 */
export function inlineStore(deps: {
  messages: Messages;
  /** Measures pauses: it need not tell the time of day. */ clock: Clock;
  log: Logger;
}): InlineStore {
  let waiting: Waiting[] = [];
  let isWriting = false;
  let misses = 0;
  let nextProbeAt = 0;

  async function writeAll(): Promise<void> {
    isWriting = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        await deps.messages.apply(batch.map(({ record }) => record));
        misses = 0;
      } catch (error) {
        misses += 1;
        deps.log.warn(
          { err: error, records: batch.length },
          'documents were not written at once, the fan-out will write them',
        );
      }
      for (const { done } of batch) done();
    }
    isWriting = false;
  }

  return {
    store(record) {
      if (misses >= missesMax) {
        if (deps.clock() < nextProbeAt) return Promise.resolve();
        nextProbeAt = deps.clock() + probeMs;
      }
      if (waiting.length >= waitingMax) return Promise.resolve();
      return new Promise((resolve) => {
        const timer = setTimeout(() => {
          misses += 1;
          resolve();
        }, waitMs);
        waiting.push({
          record,
          done: () => {
            clearTimeout(timer);
            resolve();
          },
        });
        if (!isWriting) void writeAll();
      });
    },
  };
}
