import type { ClientSession, Connection } from 'mongoose';
import type { PlacedRecord } from '../../../../domain/messages/log-record.ts';
import type { Clock } from '../../../../platform/clock.ts';
import { duplicateKey } from '../mongo-connection.ts';
import type { ChangeDocument, MessageCollections, MessageDocument } from './mongo-message-collections.ts';
import { mergeRecords, type MergedMessage, type MessageState } from './mongo-merge-records.ts';
import { inTransaction } from '../mongo-transaction.ts';

/** Into how many parts a topic's figures may fall. More would make them dearer to read, fewer let more nodes meet. */
const partsMax = 16;

/**
 * Applies records, all or none: the messages, the rows of edits and deletions, and the figures of topics are one
 * transaction, so a count is right whatever breaks, and nodes that apply the same records at once cannot count them twice.
 *
 * A record whose message has expired leaves nothing but the topic's last position and time, so a replay of the log
 * brings nothing back that a sweep has removed.
 */
export function mongoMessageWriter(
  connection: Connection,
  collections: MessageCollections,
  clock: Clock,
): (records: readonly PlacedRecord[]) => Promise<void> {
  let part = 0;
  const write = async (
    records: readonly PlacedRecord[],
    live: readonly PlacedRecord[],
    areNew: boolean,
  ): Promise<void> => {
    let isFirstTry = true;
    await inTransaction(connection, async (session) => {
      // It met another node's: from now on this one counts elsewhere.
      if (!isFirstTry) part = Math.floor(Math.random() * partsMax);
      isFirstTry = false;
      const stored = areNew ? nothingStored : await storedStates(collections, live, session);
      const merged = [...byMessage(live)].map(([id, ofMessage]) => ({
        id,
        topicId: ofMessage[0].record.message.topicId,
        ...mergeRecords(stored.messages.get(id) ?? null, ofMessage),
      }));
      await writeMessages(collections, merged, session);
      await insertChanges(
        collections,
        live.filter(({ offset, record }) => record.type !== 'message' && !stored.changes.has(offset)),
        session,
      );
      // Last, since this is where batches of several nodes meet.
      await touchTopics(
        collections,
        { news: records.filter((placed) => !isKnown(stored, placed)), merged, part },
        session,
      );
    });
  };
  return async (records) => {
    if (records.length === 0) return;
    const now = clock();
    const live = records.filter(({ record }) => record.message.expiresAt > now);
    // Messages are nearly always new, and that is found out by storing them: one question less on a publish's way.
    if (live.every(({ record }) => record.type === 'message') && (await isDone(write(records, live, true)))) return;
    await write(records, live, false);
  };
}

/** False when something was stored already, and nothing is written. */
async function isDone(writing: Promise<void>): Promise<boolean> {
  try {
    await writing;
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code === duplicateKey) return false;
    throw error;
  }
}

interface StoredStates {
  readonly messages: ReadonlyMap<string, MessageState>;
  /** Positions of the edits and deletions that are stored. */
  readonly changes: ReadonlySet<number>;
}

const nothingStored: StoredStates = { messages: new Map(), changes: new Set() };

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

/** What is stored at its own position was told to the figures with it. */
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

/** Most messages have nothing folded: a field that says so would be in each of them. */
function withoutNull({ folded, ...document }: MessageDocument): MessageDocument {
  return folded === undefined || folded === null ? document : { ...document, folded };
}

async function insertChanges(
  { changes }: MessageCollections,
  records: readonly PlacedRecord[],
  session: ClientSession,
): Promise<void> {
  // A record can come twice in one batch.
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

/** Moves the figures of the records' topics; the last position and time also for what was not stored. */
async function touchTopics(
  { stats }: MessageCollections,
  { news, merged, part }: { news: readonly PlacedRecord[]; merged: readonly Merged[]; part: number },
  session: ClientSession,
): Promise<void> {
  const topics = new Map<string, { lastOffset: number; lastMessageAt?: number }>();
  for (const {
    offset,
    record: { type, timestamp, message },
  } of news) {
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
