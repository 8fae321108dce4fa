import type { ClientSession, Connection, mongo } from 'mongoose';
import type { PlacedRecord } from '../../../../domain/messages/log-record.ts';
import type { Clock } from '../../../../platform/clock.ts';
import { unblocked } from '../end-abandoned-transactions.ts';
import { duplicateKey, duplicatesOf } from '../mongo-connection.ts';
import {
  asPublished,
  contentOf,
  originOf,
  type ChangeDocument,
  type MessageCollections,
  type MessageDocument,
} from './mongo-message-collections.ts';
import { mergeRecords, type MergedMessage, type MessageState } from './mongo-merge-records.ts';
import {
  changeCheckpoints,
  countChange,
  countStates,
  latest,
  type CheckpointChange,
  type CountState,
} from './mongo-topic-counts.ts';
import { throughElection } from '../mongo-election.ts';
import { inTransaction } from '../mongo-transaction.ts';

/** Writes records. Resolves with the time of the last commit, like `inTransaction`; undefined without a transaction. */
export type MongoMessageWrite = (records: readonly PlacedRecord[]) => Promise<mongo.Timestamp | undefined>;

/** A transaction is repeated when another node has inserted one of its messages meanwhile. */
const attemptsMax = 5;

/**
 * Returns the write of `apply`. Nearly all records are new messages, which it inserts in one request. `merge` applies
 * the others in a transaction: records of messages that are stored already, edits, deletions, and records of expired
 * messages.
 */
export function mongoMessageWriter(
  connection: Connection,
  collections: MessageCollections,
  { clock, merge }: { readonly clock: Clock; readonly merge: MongoMessageWrite },
): MongoMessageWrite {
  return async (records) => {
    const now = clock();
    const isPlain = ({ record }: PlacedRecord) => record.type === 'message' && record.message.expiresAt > now;
    const existing = await insertMessages(connection, collections, records.filter(isPlain));
    return merge([...records.filter((placed) => !isPlain(placed)), ...existing]);
  };
}

/** Inserts messages, and returns those records whose message is stored already, but not from this record. */
async function insertMessages(
  connection: Connection,
  { messages }: MessageCollections,
  records: readonly PlacedRecord[],
): Promise<PlacedRecord[]> {
  if (records.length === 0) return [];
  try {
    await throughElection(() =>
      unblocked(connection, () => messages.insertMany(records.map(documentOf), { ordered: false })),
    );
    return [];
  } catch (error) {
    const refused = duplicatesOf(error);
    const existing = records.filter((_, index) => refused.has(index));
    const ids = existing.map(({ record }) => record.message.id);
    const found = await messages
      .find({ _id: { $in: ids } }, { projection: { offset: 1 }, batchSize: ids.length + 1 })
      .toArray();
    const offsets = new Map(found.map(({ _id, offset }) => [_id, offset]));
    return existing.filter(({ offset, record }) => offsets.get(record.message.id) !== offset);
  }
}

/** Returns the document of a message that has only this record. */
export function documentOf({ partition, offset, record: { message } }: PlacedRecord): MessageDocument {
  return withoutNull({
    _id: message.id,
    ...originOf(message, partition),
    offset,
    ...contentOf(message, asPublished),
  });
}

/**
 * Applies records atomically: the messages, the rows of edits and deletions, and the checkpoints of topics are one
 * transaction, so counts stay correct, and nodes that apply the same records concurrently cannot count them twice.
 *
 * A record of an expired message only updates the topic's last offset and time, so a replay of the log
 * does not restore removed messages.
 */
export function mongoRecordMerger(
  connection: Connection,
  collections: MessageCollections,
  clock: Clock,
): MongoMessageWrite {
  const merge = (records: readonly PlacedRecord[], unexpired: readonly PlacedRecord[]) =>
    inTransaction(connection, async (session) => {
      const topicIds = [...new Set(records.map(({ record }) => record.message.topicId))];
      const counts = await countStates(collections, topicIds, { session });
      const stored = await storedStates(collections, unexpired, session);
      const merged = [...byMessage(unexpired)].map(([id, ofMessage]): Merged => {
        const before = stored.messages.get(id) ?? null;
        const { topicId } = ofMessage[0].record.message;
        return { id, topicId, before, ...mergeRecords(before, ofMessage) };
      });
      await writeMessages(collections, merged, session);
      await insertChanges(
        collections,
        unexpired.filter(({ offset, record }) => record.type !== 'message' && !stored.changes.has(offset)),
        session,
      );
      // Last, because transactions on one topic conflict here.
      const newRecords = records.filter((placed) => !isKnown(stored, placed));
      await changeCheckpoints(collections, counts, { changes: checkpointChanges(counts, newRecords, merged), session });
    });
  return async (records) => {
    if (records.length === 0) return undefined;
    const now = clock();
    const unexpired = records.filter(({ record }) => record.message.expiresAt > now);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await merge(records, unexpired);
      } catch (error) {
        if ((error as { code?: unknown }).code !== duplicateKey || attempt === attemptsMax) throw error;
      }
    }
  };
}

interface StoredStates {
  readonly messages: ReadonlyMap<string, MessageState>;
  /** Offsets of stored edits and deletions. */
  readonly changes: ReadonlySet<number>;
}

type Merged = MergedMessage & { readonly id: string; readonly topicId: string; readonly before: MessageState | null };

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
            {
              session,
              projection: { offset: 1, contentRev: 1, timestamp: 1, deletedAt: 1 },
              batchSize: ids.length + 1,
            },
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

/**
 * Returns the changes of the topics' checkpoints. Last offset and time include records that were not stored, and the
 * earlier place of a message whose record with a lower offset arrived later.
 */
function checkpointChanges(
  counts: ReadonlyMap<string, CountState>,
  newRecords: readonly PlacedRecord[],
  merged: readonly Merged[],
): Map<string, CheckpointChange> {
  const changes = new Map<string, CheckpointChange>();
  const add = (topicId: string, { messages, lastOffset, lastMessageAt }: CheckpointChange) => {
    const before = changes.get(topicId);
    changes.set(topicId, {
      messages: (before?.messages ?? 0) + messages,
      lastOffset: Math.max(before?.lastOffset ?? -1, lastOffset),
      lastMessageAt: latest(before?.lastMessageAt ?? null, lastMessageAt),
    });
  };
  for (const { offset, record } of newRecords) {
    const lastMessageAt = record.type === 'message' ? record.timestamp : null;
    add(record.message.topicId, { messages: 0, lastOffset: offset, lastMessageAt });
  }
  for (const { topicId, before, set, inserted } of merged) {
    if (set === null && inserted === null) continue;
    const after = inserted ?? { ...before, ...set };
    const messages = countChange(counts.get(topicId)!.countedTo, { before, after });
    const wasPublished = before?.offset !== undefined;
    add(topicId, {
      messages,
      lastOffset: before?.offset ?? -1,
      lastMessageAt: wasPublished ? before.timestamp : null,
    });
  }
  return changes;
}
