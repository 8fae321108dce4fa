import type { MessageIngest } from '@tocsin/shared/ports/messages/message-ingest.ts';
import type { PlacedRecord } from '@tocsin/shared/domain/messages/log-record.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';

/**
 * How long a publish waits for its document. The message is already durable, and the fan-out stores missing documents.
 * With a shorter wait, acknowledged messages would not be readable yet on a busy machine.
 */
const waitMs = 1_000;
/** After this many consecutive misses publishes do not wait until a probe succeeds. */
const missesMax = 2;
/** Pause between probes. */
const probeMs = 1_000;
/** Limits the memory for documents of a hanging store. The fan-out stores the rest. */
const waitingMax = 10_000;

interface Waiting {
  readonly record: PlacedRecord;
  readonly done: () => void;
}

/** Makes the messages of publishes that are already on the log readable before the response. */
export interface InlineStore {
  /** The ID under which this node receives reports of the fan-out; absent if it does not wait for them. */
  readonly nodeId?: string;
  /** Resolves when the document is stored or the wait is over. Never rejects. */
  store(record: PlacedRecord): Promise<void>;
}

/** For an engine whose log stores the document with the record. */
export const storedByLog: InlineStore = { store: () => Promise.resolve() };

/**
 * One bulk write is in progress at a time; documents that arrive meanwhile form the next one. A slow or unavailable
 * store costs a publish at most a second, and after two misses nothing.
 */
export function inlineStore(deps: {
  messages: MessageIngest;
  /** A monotonic clock to measure pauses. */ clock: Clock;
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
          'documents not written inline, leaving them to the fan-out',
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
