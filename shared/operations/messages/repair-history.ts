import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { topics } from '../../collections/topics.ts';
import type { PlacedRecord } from '../../domain/messages/log-record.ts';
import type { Documents } from '../../ports/documents.ts';
import type { EventLog } from '../../ports/event-log.ts';
import type { MessageIngest } from '../../ports/messages/message-ingest.ts';
import type { MessageReads } from '../../ports/messages/message-reads.ts';

export interface RepairDeps {
  readonly eventLog: Pick<EventLog, 'consume' | 'lag' | 'partitions'>;
  readonly messages: Pick<MessageIngest, 'reconcile' | 'watermark'> & Pick<MessageReads, 'findMany' | 'records'>;
  readonly documents: Pick<Documents, 'pick'>;
  readonly clock: () => number;
}

export interface RepairOptions {
  /** Only counts the missing records. */
  readonly isDryRun: boolean;
  /** Called after each batch. */
  readonly onProgress: (sum: RepairedHistory) => void;
}

export interface RepairedHistory {
  /** Records of the log that were compared with history. */
  readonly compared: number;
  /** Messages, edits and deletions that history lacked. */
  readonly missing: number;
}

const lagPollMs = 500;

/**
 * Compares the log below the watermarks with history, and stores messages, edits and deletions that history lacks,
 * except those of deleted topics and of expired messages. Needs time in proportion to the log. Safe while nodes run,
 * and safe to repeat. Throws `unavailable`.
 */
export async function repairHistory(deps: RepairDeps, options: RepairOptions): Promise<RepairedHistory> {
  const { eventLog, messages } = deps;
  const group = `repair-${randomUUID()}`;
  const targets = new Map<number, number>();
  for (let partition = 0; partition < eventLog.partitions; partition += 1) {
    const watermark = await messages.watermark(partition);
    if (watermark >= 0) targets.set(partition, watermark);
  }
  const done = Promise.withResolvers<void>();
  let sum: RepairedHistory = { compared: 0, missing: 0 };
  if (targets.size === 0) return sum;
  const consumption = await eventLog.consume({
    group,
    onBatch: async (batch) => {
      const target = targets.get(batch.partition);
      if (target === undefined) return;
      const records = batch.records.filter(({ offset }) => offset <= target);
      const missing = await missingOf(deps, records);
      if (!options.isDryRun && missing.length > 0) await messages.reconcile(batch.partition, missing);
      sum = { compared: sum.compared + records.length, missing: sum.missing + missing.length };
      options.onProgress(sum);
      if (batch.nextOffset > target) targets.delete(batch.partition);
      if (targets.size === 0) done.resolve();
    },
  });
  try {
    // A partition can end below its watermark if the log has removed its records.
    const ended = (async () => {
      while (targets.size > 0 && (await eventLog.lag(group).catch(() => 1)) > 0) await pause(lagPollMs);
    })();
    await Promise.race([done.promise, ended]);
  } finally {
    await consumption.close();
  }
  return sum;
}

/** Returns the missing records in offset order. */
async function missingOf(deps: RepairDeps, records: readonly PlacedRecord[]): Promise<PlacedRecord[]> {
  const topicIds = [...new Set(records.map(({ record }) => record.message.topicId))];
  const existing = new Set((await deps.documents.pick(topics, topicIds, [])).map(({ id }) => id));
  const now = deps.clock();
  const wanted = records.filter(({ record: { message } }) => existing.has(message.topicId) && message.expiresAt > now);
  const publishes = wanted.filter(({ record }) => record.type === 'message');
  const changes = wanted.filter(({ record }) => record.type !== 'message');
  const found = await Promise.all([missingMessages(deps, publishes), missingChanges(deps, changes, now)]);
  return found.flat().sort((a, b) => a.offset - b.offset);
}

/** The records of unstored messages. A record whose message has a lower offset is a duplicate. */
async function missingMessages({ messages }: RepairDeps, records: readonly PlacedRecord[]): Promise<PlacedRecord[]> {
  const stored = await messages.findMany([...new Set(records.map(({ record }) => record.message.id))]);
  const lowest = new Map(stored.map(({ id, offset }) => [id, offset]));
  return records.filter(({ offset, record: { message } }) => {
    if (offset >= (lowest.get(message.id) ?? Infinity)) return false;
    lowest.set(message.id, offset);
    return true;
  });
}

/** The unstored edits and deletions. The records are in offset order. */
async function missingChanges(
  { messages }: RepairDeps,
  records: readonly PlacedRecord[],
  now: number,
): Promise<PlacedRecord[]> {
  const stored = new Set<number>();
  for (const [topicId, ofTopic] of Map.groupBy(records, ({ record }) => record.message.topicId)) {
    const [from, upTo] = [ofTopic[0]!.offset, ofTopic.at(-1)!.offset];
    const found = await messages.records(topicId, { from, upTo, limit: upTo - from + 1, now });
    for (const { offset } of found) stored.add(offset);
  }
  return records.filter(({ offset }) => !stored.has(offset));
}
