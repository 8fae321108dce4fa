import { setTimeout as pause } from 'node:timers/promises';
import type { Connection, mongo } from 'mongoose';
import { batchLoader } from '../../../../async/batch-loader.ts';
import type { PlacedRecord } from '../../../../domain/messages/log-record.ts';
import type { Clock } from '../../../../platform/clock.ts';
import type { ReconciledRecord } from '../../../../ports/messages/message-ingest.ts';
import { unblocked } from '../end-abandoned-transactions.ts';
import { duplicatesOf } from '../mongo-connection.ts';
import type { MessageCollections, MessageDocument } from './mongo-message-collections.ts';
import { lastOffsetsBelow, storedOf, watermarkOf } from './mongo-message-reads.ts';
import { documentOf, type MongoMessageWrite } from './mongo-message-writer.ts';

export interface ReconcileOptions {
  readonly connection: Connection;
  readonly collections: MessageCollections;
  /** Merges records into stored messages. */
  readonly merge: MongoMessageWrite;
  readonly clock: Clock;
}

/**
 * The API usually stores an edit or deletion within a moment, so the fan-out checks for this long before it stores the
 * change itself. Concurrent writes would conflict, and one transaction would have to repeat its work.
 */
const recheckPausesMs = [3, 6, 12, 25, 50] as const;
/** The publisher of an older record died, or the record is a repetition, so waiting is useless. */
const recentMs = 1_000;
/** Messages per request. */
const insertedMax = 1_000;
/** Limits the memory per partition. */
const topicsKnownMax = 20_000;

/** The state after the last batch of a partition. */
interface Progress {
  /** The offset after its last record. */
  readonly next: number;
  /** The last known reconciled offset per topic. */
  readonly lastOffsets: Map<string, number>;
}

/** Implements the port's `reconcile`. */
export function mongoReconcile(
  options: ReconcileOptions,
): (partition: number, records: readonly PlacedRecord[]) => Promise<ReconciledRecord[]> {
  const partitions = new Map<number, Progress>();
  /**
   * The watermark of each partition at its first batch. Only messages above it may be inserted without being counted.
   */
  const floors = new Map<number, number>();
  const isStored = batchLoader<PlacedRecord, true>(storeMissing(options), insertedMax);
  const storedOfBatch = async (partition: number, records: readonly PlacedRecord[]): Promise<Set<PlacedRecord>> => {
    const floor = floors.get(partition) ?? (await watermarkOf(options.collections, partition));
    floors.set(partition, floor);
    const now = options.clock();
    const isInserted = ({ offset, record: { type, message } }: PlacedRecord) =>
      type === 'message' && message.expiresAt > now && offset > floor;
    const stored = await Promise.all(
      records.map((placed) => (isInserted(placed) ? isStored(placed) : Promise.resolve(undefined))),
    );
    return stored.every(Boolean) ? new Set(records) : storedInTheEnd(options, records);
  };

  return async (partition, records) => {
    const first = records[0];
    if (first === undefined) return [];
    const before = partitions.get(partition);
    partitions.delete(partition); // unknown until this batch succeeds
    // If the batch does not start where the last one ended, another process may have reconciled batches in between.
    const known =
      before?.next === first.offset && before.lastOffsets.size < topicsKnownMax
        ? before.lastOffsets
        : new Map<string, number>();
    const unknown = [...new Set(records.map(({ record }) => record.message.topicId))].filter(
      (topicId) => !known.has(topicId),
    );
    const [stored, lastOffsets] = await Promise.all([
      storedOfBatch(partition, records),
      unknown.length === 0 ? new Map<string, number>() : lastOffsetsBelow(options.collections, unknown, first.offset),
    ]);
    for (const [topicId, offset] of lastOffsets) known.set(topicId, offset);
    const now = options.clock();
    const settled = records
      .filter((placed) => stored.has(placed) && placed.record.message.expiresAt > now)
      .map((placed) => {
        const { topicId } = placed.record.message;
        const previousOffset = known.get(topicId) ?? null;
        known.set(topicId, placed.offset);
        return { ...placed, previousOffset };
      });
    partitions.set(partition, { next: records.at(-1)!.offset + 1, lastOffsets: known });
    return settled;
  };
}

/**
 * Inserts missing messages, and returns those records from which their message is stored. The batches of all partitions
 * share requests. Like for a write, the response for stored messages waits until the majority has them.
 *
 * Usually no message is stored before, so it inserts them all. While API nodes store most messages, it inserts
 * conditionally instead, because the server responds to a conditional insert of a stored message without an error.
 */
function storeMissing({
  connection,
  collections: { messages },
}: ReconcileOptions): (records: readonly PlacedRecord[]) => Promise<Map<PlacedRecord, true>> {
  let areMostStored = false;
  const insert = (records: readonly PlacedRecord[]) =>
    unblocked(connection, () => messages.insertMany(records.map(documentOf), { ordered: false }))
      .then((): PlacedRecord[] => [])
      .catch((error: unknown) => at(records, duplicatesOf(error)));
  const insertMissing = (records: readonly PlacedRecord[]) =>
    unblocked(connection, () => messages.bulkWrite(records.map(insertOperation), { ordered: false }))
      .then(({ upsertedCount }) => ({ inserted: upsertedCount, refused: [] as PlacedRecord[] }))
      .catch((error: unknown) => ({ inserted: 0, refused: at(records, duplicatesOf(error)) }));

  return async (records) => {
    const found = areMostStored ? records : await insert(records);
    if (found.length === 0) return new Map(records.map((placed) => [placed, true]));
    const { inserted, refused } = await insertMissing(found);
    areMostStored = found.length - inserted > records.length / 2;
    const others = new Set<PlacedRecord>(refused);
    return new Map(records.filter((placed) => !others.has(placed)).map((placed) => [placed, true]));
  };
}

const at = (records: readonly PlacedRecord[], indexes: ReadonlySet<number>): PlacedRecord[] =>
  records.filter((_, index) => indexes.has(index));

/** The offset in the filter makes the insert fail if the message is stored from another record, or is a stub. */
function insertOperation(placed: PlacedRecord): mongo.AnyBulkWriteOperation<MessageDocument> {
  const { _id, offset, ...document } = documentOf(placed);
  return { updateOne: { filter: { _id, offset }, update: { $setOnInsert: document }, upsert: true } };
}

/**
 * Returns the stored records that are not duplicates, after all missing ones are written. Looks for new documents with
 * local reads, which see them first, and confirms what it found with a majority read. The session makes the server
 * answer it as soon as the majority has what was seen, and lets no other primary answer from an earlier time.
 */
async function storedInTheEnd(
  { connection, collections, merge, clock }: ReconcileOptions,
  records: readonly PlacedRecord[],
): Promise<Set<PlacedRecord>> {
  const session = await connection.startSession({ causalConsistency: true });
  try {
    const seen = new Set<PlacedRecord>();
    for (const waitMs of [0, ...recheckPausesMs]) {
      const unseen = records.filter((placed) => !seen.has(placed));
      const oldestFresh = clock() - recentMs;
      if (waitMs > 0 && !unseen.some(({ record }) => record.timestamp > oldestFresh)) break;
      if (waitMs > 0) await pause(waitMs);
      for (const placed of await storedOf(collections, unseen, { session, level: 'local' })) seen.add(placed);
    }
    const stored = seen.size === 0 ? seen : await storedOf(collections, records, { session, level: 'majority' });
    const missing = records.filter((placed) => !stored.has(placed));
    if (missing.length === 0) return stored;
    const writtenAt = await merge(missing);
    if (writtenAt !== undefined) session.advanceOperationTime(writtenAt);
    // Looks up all records again, because a missing original may have replaced a stored duplicate.
    return await storedOf(collections, records, { session, level: 'majority' });
  } finally {
    await session.endSession();
  }
}
