import type { ClientSession, Connection, mongo } from 'mongoose';
import type { PlacedRecord } from '../../../../domain/messages/log-record.ts';
import type { Clock } from '../../../../platform/clock.ts';
import { duplicateKey } from '../mongo-connection.ts';
import type { ChangeDocument, MessageCollections, MessageDocument } from './mongo-message-collections.ts';
import { mergeRecords, type MergedMessage, type MessageState } from './mongo-merge-records.ts';
import { inTransaction } from '../mongo-transaction.ts';

/** The maximum number of shards of a topic's counters. More shards take longer to read, fewer cause more conflicts. */
const partsMax = 16;

/** Writes records. Resolves with the time of the commit, like `inTransaction`; undefined if there is nothing to write. */
export type MongoMessageWrite = (records: readonly PlacedRecord[]) => Promise<mongo.Timestamp | undefined>;

/**
 * Applies records atomically: the messages, the rows of edits and deletions, and the counters of topics are one
 * transaction, so counts stay correct, and nodes that apply the same records concurrently cannot count them twice.
 *
 * A record of an expired message only updates the topic's last offset and time, so a replay of the log
 * does not restore removed messages.
 */
export function mongoMessageWriter(
  connection: Connection,
  collections: MessageCollections,
  clock: Clock,
): MongoMessageWrite {
  let part = 0;
  const write = (
    records: readonly PlacedRecord[],
    unexpired: readonly PlacedRecord[],
    areNew: boolean,
  ): Promise<mongo.Timestamp | undefined> => {
    let isFirstTry = true;
    return inTransaction(connection, async (session) => {
      // Conflicted with another node: use another shard from now on.
      if (!isFirstTry) part = Math.floor(Math.random() * partsMax);
      isFirstTry = false;
      const stored = areNew ? noStates : await storedStates(collections, unexpired, session);
      const merged = [...byMessage(unexpired)].map(([id, ofMessage]) => ({
        id,
        topicId: ofMessage[0].record.message.topicId,
        ...mergeRecords(stored.messages.get(id) ?? null, ofMessage),
      }));
      await writeMessages(collections, merged, session);
      await insertChanges(
        collections,
        unexpired.filter(({ offset, record }) => record.type !== 'message' && !stored.changes.has(offset)),
        session,
      );
      // Last, because batches of several nodes conflict here.
      await touchTopics(
        collections,
        { newRecords: records.filter((placed) => !isKnown(stored, placed)), merged, part },
        session,
      );
    });
  };
  return async (records) => {
    if (records.length === 0) return undefined;
    const now = clock();
    const unexpired = records.filter(({ record }) => record.message.expiresAt > now);
    // Messages are nearly always new, so they are inserted without a lookup, which saves a round trip per publish.
    if (unexpired.every(({ record }) => record.type === 'message')) {
      try {
        return await write(records, unexpired, true);
      } catch (error) {
        if ((error as { code?: unknown }).code !== duplicateKey) throw error;
      }
    }
    return write(records, unexpired, false);
  };
}

interface StoredStates {
  readonly messages: ReadonlyMap<string, MessageState>;
  /** Offsets of stored edits and deletions. */
  readonly changes: ReadonlySet<number>;
}

const noStates: StoredStates = { messages: new Map(), changes: new Set() };

type Merged = MergedMessage & { readonly id: string; readonly topicId: string };

async function storedStates(
  { messages, changes }: MessageCollections,
  records: readonly PlacedRecord[],
  session: ClientSession,
): Promise<StoredStates> {
  const ids = [...new Set(records.map(({ record }) => record.message.id))];
  const places = records
    .filter(({ record }) => record.type !== 'message')
    .map(({ partition, offset }) => ({ partition, offset }));
  const ofMessages =
    ids.length === 0
      ? []
      : await messages
          .find(
            { _id: { $in: ids } },
            { session, projection: { offset: 1, contentRev: 1, deletedAt: 1 }, batchSize: ids.length + 1 },
          )
          .toArray();
  const ofChanges =
    places.length === 0
      ? []
      : await changes
          .find({ _id: { $in: places } }, { session, projection: { offset: 1 }, batchSize: places.length + 1 })
          .toArray();
  return {
    messages: new Map(ofMessages.map((state) => [state._id, state])),
    changes: new Set(ofChanges.map(({ offset }) => offset)),
  };
}

/** Skips records that are stored at their own offset, because they are already counted. */
function isKnown(stored: StoredStates, { offset, record }: PlacedRecord): boolean {
  return record.type === 'message'
    ? stored.messages.get(record.message.id)?.offset === offset
    : stored.changes.has(offset);
}

function byMessage(records: readonly PlacedRecord[]): Map<string, [PlacedRecord, ...PlacedRecord[]]> {
  const groups = new Map<string, [PlacedRecord, ...PlacedRecord[]]>();
  for (const placed of records) {
    const group = groups.get(placed.record.message.id);
    if (group === undefined) groups.set(placed.record.message.id, [placed]);
    else group.push(placed);
  }
  return groups;
}

async function writeMessages(
  { messages }: MessageCollections,
  merged: readonly Merged[],
  session: ClientSession,
): Promise<void> {
  const inserted = merged.flatMap(({ inserted: document }): MessageDocument[] =>
    document === null ? [] : [withoutNull(document)],
  );
  if (inserted.length > 0) await messages.insertMany(inserted, { session });
  const updates = merged.flatMap(({ id, set }) =>
    set === null ? [] : [{ updateOne: { filter: { _id: id }, update: { $set: set } } }],
  );
  if (updates.length > 0) await messages.bulkWrite(updates, { session });
}

/** Omits the folded text, which most messages do not need. */
function withoutNull({ folded, ...document }: MessageDocument): MessageDocument {
  return folded === undefined || folded === null ? document : { ...document, folded };
}

async function insertChanges(
  { changes }: MessageCollections,
  records: readonly PlacedRecord[],
  session: ClientSession,
): Promise<void> {
  // A batch can contain a record twice.
  const documents = new Map(
    records.map(({ partition, offset, record: { type, timestamp, message } }): [number, ChangeDocument] => [
      offset,
      {
        _id: { partition, offset },
        type: type as ChangeDocument['type'],
        topicId: message.topicId,
        messageId: message.id,
        offset,
        timestamp,
      },
    ]),
  );
  if (documents.size > 0) await changes.insertMany([...documents.values()], { session });
}

/** Updates the counters of the records' topics. Last offset and time include records that were not stored. */
async function touchTopics(
  { stats }: MessageCollections,
  { newRecords, merged, part }: { newRecords: readonly PlacedRecord[]; merged: readonly Merged[]; part: number },
  session: ClientSession,
): Promise<void> {
  const topics = new Map<string, { lastOffset: number; lastMessageAt?: number }>();
  for (const {
    offset,
    record: { type, timestamp, message },
  } of newRecords) {
    let last = topics.get(message.topicId);
    if (last === undefined) topics.set(message.topicId, (last = { lastOffset: offset }));
    last.lastOffset = Math.max(last.lastOffset, offset);
    if (type === 'message') last.lastMessageAt = Math.max(last.lastMessageAt ?? timestamp, timestamp);
  }
  const counts = new Map<string, number>();
  for (const { topicId, counted } of merged) counts.set(topicId, (counts.get(topicId) ?? 0) + counted);
  if (topics.size === 0) return;
  await stats.bulkWrite(
    [...topics].map(([topicId, last]) => ({
      updateOne: {
        filter: { _id: { topicId, part } },
        update: { $inc: { messageCount: counts.get(topicId) ?? 0 }, $max: last, $setOnInsert: { topicId } },
        upsert: true,
      },
    })),
    { session },
  );
}
