import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { topics } from '../../collections/topics.ts';
import type { PlacedRecord } from '../../domain/messages/log-record.ts';
import type { Documents } from '../../ports/documents.ts';
import type { EventLog, RecordBatch } from '../../ports/event-log.ts';
import type { MessageIngest } from '../../ports/messages/message-ingest.ts';
import type { MessageReads } from '../../ports/messages/message-reads.ts';

export interface RepairDeps {
  readonly eventLog: Pick<EventLog, 'consume' | 'lag' | 'partitions'>;
  readonly messages: Pick<MessageIngest, 'reconcile' | 'watermark'> & Pick<MessageReads, 'findMany'>;
  readonly documents: Pick<Documents, 'pick'>;
  readonly clock: () => number;
}

export interface RepairOptions {
  /** Only counts the missing messages. */
  readonly isDryRun: boolean;
  /** Called after each batch. */
  readonly onProgress: (so: RepairedHistory) => void;
}

export interface RepairedHistory {
  /** Records of the log that were compared with history. */
  readonly compared: number;
  /** Messages that history lacked. */
  readonly missing: number;
}

const lagPollMs = 500;

/**
 * Compares the log below the watermarks with history, and stores messages that history lacks, except those of deleted topics
 * and expired ones. Needs time in proportion to the log. Safe while nodes run, and safe to repeat.
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
  let so: RepairedHistory = { compared: 0, missing: 0 };
  if (targets.size === 0) return so;
  const consumption = await eventLog.consume({
    group,
    onBatch: async (batch) => {
      const target = targets.get(batch.partition);
      if (target === undefined) return;
      const found = await repairBatch(deps, options, { ...batch, records: upTo(target, batch.records) });
      so = { compared: so.compared + found.compared, missing: so.missing + found.missing };
      options.onProgress(so);
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
  return so;
}

const upTo = (target: number, records: readonly PlacedRecord[]): PlacedRecord[] =>
  records.filter(({ offset }) => offset <= target);

async function repairBatch(
  { messages, documents, clock }: RepairDeps,
  { isDryRun }: RepairOptions,
  { partition, records }: Pick<RecordBatch, 'partition' | 'records'>,
): Promise<RepairedHistory> {
  const topicIds = [...new Set(records.map(({ record }) => record.message.topicId))];
  const existing = new Set((await documents.pick(topics, topicIds, [])).map(({ id }) => id));
  const now = clock();
  const wanted = records.filter(({ record: { message } }) => existing.has(message.topicId) && message.expiresAt > now);
  const ids = new Set(wanted.filter(({ record }) => record.type === 'message').map(({ record }) => record.message.id));
  const known = new Set((await messages.findMany([...ids])).map(({ id }) => id));
  const missing = [...ids].filter((id) => !known.has(id)).length;
  if (!isDryRun && missing > 0) await messages.reconcile(partition, wanted);
  return { compared: records.length, missing };
}
