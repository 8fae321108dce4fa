import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import type { LogRecord, PlacedRecord } from '../../domain/messages/log-record.ts';
import type { Message } from '../../domain/messages/message.ts';
import { eventually } from '../../testing/eventually.ts';
import type { EventLog } from '../../ports/event-log.ts';
import { noExtras } from '../../domain/messages/message-extras.ts';

/** A unique record. */
export function testRecord(changes: Partial<Message> = {}): LogRecord {
  const timestamp = Date.now();
  return {
    type: 'message',
    timestamp,
    message: {
      id: randomUUID(),
      topicId: 'topic-1',
      message: 'The door is open',
      title: null,
      priority: 3,
      tags: ['door'],
      timestamp,
      expiresAt: timestamp + 86_400_000,
      markdown: false,
      isDeleted: false,
      isEdited: false,
      deletedAt: null,
      editedAt: null,
      ...noExtras,
      publishedBy: null,
      ...changes,
    },
  };
}

/** A unique group. */
export const newGroup = (): string => `test-${randomUUID()}`;

/** The numbers of the log's partitions. */
export const partitionsOf = (log: EventLog): number[] =>
  Array.from({ length: log.partitions }, (_, partition) => partition);

/** Appends records round-robin over the partitions, or to one; resolves with their message IDs. */
export async function appendTo(log: EventLog, count: number, partition?: number): Promise<string[]> {
  const records = Array.from({ length: count }, () => testRecord());
  await Promise.all(records.map((record, index) => log.append(partition ?? index % log.partitions, record, 'alarms')));
  return records.map(({ message }) => message.id);
}

/** A handler that records batches. */
export function collector() {
  const seen: PlacedRecord[] = [];
  return {
    seen,
    onBatch: (batch: { records: readonly PlacedRecord[] }): Promise<void> => {
      seen.push(...batch.records);
      return Promise.resolve();
    },
    ids: () => new Set(seen.map(({ record }) => record.message.id)),
    places: () => new Set(seen.map(({ partition, offset }) => `${partition}:${offset}`)),
    offsets: () => seen.map(({ offset }) => offset),
    /** Expects records in order per partition; a repetition may restart at an earlier offset. */
    expectOrdered: () => {
      for (const own of Map.groupBy(seen, ({ partition }) => partition).values()) {
        expectGrowing([...new Set(own.map(({ offset }) => offset))]);
      }
    },
  };
}

/** Reads the log from its start as a new group until it has `count` records at distinct offsets. */
export async function readAll(log: EventLog, count: number): Promise<PlacedRecord[]> {
  const reader = collector();
  const consumption = await log.consume({ group: newGroup(), onBatch: reader.onBatch });
  await eventually(() => expect(reader.places().size).toBeGreaterThanOrEqual(count));
  await consumption.close();
  return reader.seen;
}

/** Expects each offset to be above the previous one. */
export function expectGrowing(offsets: readonly number[]): void {
  for (let index = 1; index < offsets.length; index += 1) expect(offsets[index]!).toBeGreaterThan(offsets[index - 1]!);
}
