import type { LogRecord } from '@tocsin/shared/domain/messages/log-record.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { settledWithin } from '@tocsin/shared/async/settled-within.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';

/** How long a change waits for its document. It is durable on the log, and the fan-out stores missing documents. */
const storeMsMax = 2_000;

/**
 * Appends the record of a change, which makes the change, and stores it. The caller holds the lock of the message.
 * Throws `unavailable` if the log did not accept the record in time: the outcome is then unknown.
 */
export async function appendChange(
  { engine, log }: { readonly engine: Pick<Engine, 'eventLog' | 'messages'>; readonly log: Logger },
  { id: topicId, name, partition }: Topic,
  record: LogRecord,
): Promise<void> {
  const offset = await engine.eventLog.append(partition, record, name);
  const stored = engine.messages.apply([{ partition, offset, record }]).catch((error: unknown) => {
    log.warn({ err: error, topicId, offset }, 'change not stored inline, leaving it to the fan-out');
  });
  await settledWithin(storeMsMax, [stored]);
}
