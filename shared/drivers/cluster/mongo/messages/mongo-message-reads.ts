import type { ClientSession } from 'mongoose';
import type { PlacedRecord } from '../../../../domain/messages/log-record.ts';
import type { StoredMessage } from '../../../../domain/messages/message.ts';
import type { TopicMark, TopicRecord } from '../../../../ports/messages/message-reads.ts';
import {
  byTime,
  byTopic,
  notDeleted,
  toMessage,
  toShownMessage,
  type ChangeDocument,
  type MessageCollections,
  type MessageDocument,
} from './mongo-message-collections.ts';
import { ofMessagesThat } from './mongo-lost-records.ts';
import { newestOffsets } from './mongo-offset-range.ts';

/** Returns messages in history, oldest first. `batchSize` makes it one round trip. */
export async function newestMessages(
  { messages }: MessageCollections,
  topicId: string,
  page: { limit: number; now: number },
): Promise<StoredMessage[]> {
  const found = await messages
    .find({ topicId, offset: { $gte: 0 }, expiresAt: { $gt: page.now }, ...notDeleted })
    .sort({ offset: -1 })
    .limit(page.limit)
    .batchSize(page.limit + 1)
    .hint(byTopic)
    .toArray();
  return found.reverse().map(toMessage);
}

/** Concurrent reads, so that a caller with hundreds of topics does not block others. */
const concurrentReads = 20;

/**
 * Reads each topic separately: a combined query could not stop after one index key per topic, because it skips expired
 * messages.
 */
export async function newestOfEach(
  collections: MessageCollections,
  topicIds: readonly string[],
  now: number,
): Promise<Map<string, StoredMessage>> {
  const newest = new Map<string, StoredMessage>();
  for (let at = 0; at < topicIds.length; at += concurrentReads) {
    const found = await Promise.all(
      topicIds
        .slice(at, at + concurrentReads)
        .map((topicId) => newestMessages(collections, topicId, { limit: 1, now })),
    );
    for (const message of found.flat()) newest.set(message.topicId, message);
  }
  return newest;
}

export async function findMessages(
  { messages }: MessageCollections,
  messageIds: readonly string[],
): Promise<StoredMessage[]> {
  if (messageIds.length === 0) return [];
  return (await messages.find({ _id: { $in: [...messageIds] }, offset: { $gte: 0 } }).toArray()).map(toMessage);
}

export async function messagesAfter(
  { messages }: MessageCollections,
  topicId: string,
  page: { after: number; upTo: number; limit: number; now: number },
): Promise<StoredMessage[]> {
  const found = await messages
    .find({ topicId, offset: { $gt: page.after, $lte: page.upTo }, expiresAt: { $gt: page.now }, ...notDeleted })
    .sort({ offset: 1 })
    .limit(page.limit)
    .batchSize(page.limit + 1)
    .hint(byTopic)
    .toArray();
  return found.map(toMessage);
}

export async function topicRecords(
  { messages, changes }: MessageCollections,
  topicId: string,
  page: { from: number; upTo: number; limit: number; now: number },
): Promise<TopicRecord[]> {
  const inRange = { topicId, offset: { $gte: page.from, $lte: page.upTo } };
  const [ownRecords, changeRecords] = await Promise.all([
    messages
      .find({ ...inRange, expiresAt: { $gt: page.now } })
      .sort({ offset: 1 })
      .limit(page.limit)
      .batchSize(page.limit + 1)
      .hint(byTopic)
      .toArray(),
    // The limit is applied last, because changes of invisible messages do not count.
    changes
      .aggregate<ChangeDocument & { of: [MessageDocument] }>(
        [
          { $match: inRange },
          { $sort: { offset: 1 } },
          ...ofMessagesThat(messages, { 'of.expiresAt': { $gt: page.now } }),
          { $limit: page.limit },
        ],
        { hint: byTopic, batchSize: page.limit + 1 },
      )
      .toArray(),
  ]);
  const records = ownRecords.map((document): TopicRecord => ({
    offset: document.offset!,
    type: 'message',
    timestamp: document.timestamp,
    message: toShownMessage(document),
  }));
  if (changeRecords.length === 0) return records;
  for (const {
    offset,
    type,
    timestamp,
    of: [document],
  } of changeRecords) {
    records.push({ offset, type, timestamp, message: toShownMessage(document) });
  }
  return records.sort((a, b) => a.offset - b.offset).slice(0, page.limit);
}

/** Concurrent counts, so that a caller with hundreds of topics does not block others. */
const concurrentCounts = 10;
/** Limits of one combined query: marks, because of its planning time, and counted messages. */
const marksPerQuery = 100;
const combinedCountMax = 10_000;

type CountPage = { readonly max: number; readonly now: number };

/**
 * Usually few messages are unread, so one query counts all marks. Otherwise counts each mark by a query that stops at
 * `max`.
 */
export async function countAfterEach(
  collections: MessageCollections,
  marks: readonly TopicMark[],
  page: CountPage,
): Promise<number[]> {
  const counts: number[] = [];
  for (let at = 0; at < marks.length; at += marksPerQuery) {
    const batch = marks.slice(at, at + marksPerQuery);
    counts.push(
      ...((await countCombined(collections, batch, page)) ?? (await countSeparately(collections, batch, page))),
    );
  }
  return counts;
}

/** Returns null if there are too many messages for one query, or two marks of one topic. */
async function countCombined(
  { messages }: MessageCollections,
  marks: readonly TopicMark[],
  { max, now }: CountPage,
): Promise<number[] | null> {
  if (new Set(marks.map(({ topicId }) => topicId)).size < marks.length) return null;
  const found = await messages
    .aggregate<{ _id: string; count: number }>(
      [
        { $match: { $or: marks.map((mark) => laterThan(mark, now)) } },
        { $limit: combinedCountMax },
        { $group: { _id: '$topicId', count: { $sum: 1 } } },
      ],
      { hint: byTime, batchSize: marks.length + 1 },
    )
    .toArray();
  if (found.reduce((sum, { count }) => sum + count, 0) >= combinedCountMax) return null;
  const counts = new Map(found.map(({ _id, count }) => [_id, count]));
  return marks.map(({ topicId }) => Math.min(counts.get(topicId) ?? 0, max));
}

async function countSeparately(
  { messages }: MessageCollections,
  marks: readonly TopicMark[],
  { max, now }: CountPage,
): Promise<number[]> {
  const count = (mark: TopicMark): Promise<number> =>
    messages.countDocuments(laterThan(mark, now), { limit: max, hint: byTime });
  const counts: number[] = [];
  for (let at = 0; at < marks.length; at += concurrentCounts) {
    counts.push(...(await Promise.all(marks.slice(at, at + concurrentCounts).map(count))));
  }
  return counts;
}

/** Messages of one combined query of times; more are read per topic, newest first. */
const combinedTimesMax = 1_000;

/** Usually few messages are unread, so one query reads all times. Otherwise reads each topic's newest. */
export async function timesAfterEach(
  collections: MessageCollections,
  marks: readonly TopicMark[],
  page: CountPage,
): Promise<number[][]> {
  const times: number[][] = [];
  for (let at = 0; at < marks.length; at += marksPerQuery) {
    const batch = marks.slice(at, at + marksPerQuery);
    times.push(
      ...((await timesCombined(collections, batch, page)) ?? (await timesSeparately(collections, batch, page))),
    );
  }
  return times;
}

/** Returns null if there are too many messages for one query. */
async function timesCombined(
  { messages }: MessageCollections,
  marks: readonly TopicMark[],
  { max, now }: CountPage,
): Promise<number[][] | null> {
  const found = await messages
    .aggregate<{ _id: string; times: number[] }>(
      [
        { $match: { $or: marks.map((mark) => laterThan(mark, now)) } },
        { $limit: combinedTimesMax },
        { $group: { _id: '$topicId', times: { $push: '$timestamp' } } },
      ],
      { hint: byTime, batchSize: marks.length + 1 },
    )
    .toArray();
  if (found.reduce((sum, { times }) => sum + times.length, 0) >= combinedTimesMax) return null;
  const ofTopics = new Map(found.map(({ _id, times }) => [_id, times.sort((a, b) => b - a).slice(0, max)]));
  return marks.map(({ topicId }) => ofTopics.get(topicId) ?? []);
}

async function timesSeparately(
  { messages }: MessageCollections,
  marks: readonly TopicMark[],
  { max, now }: CountPage,
): Promise<number[][]> {
  const newest = async (mark: TopicMark): Promise<number[]> => {
    const [found] = await messages
      .aggregate<{ times: number[] }>(
        [
          { $match: laterThan(mark, now) },
          { $sort: { topicId: -1, timestamp: -1, offset: -1 } },
          { $limit: max },
          { $group: { _id: null, times: { $push: '$timestamp' } } },
        ],
        { hint: byTime },
      )
      .toArray();
    return found?.times ?? [];
  };
  const times: number[][] = [];
  for (let at = 0; at < marks.length; at += concurrentCounts)
    times.push(...(await Promise.all(marks.slice(at, at + concurrentCounts).map(newest))));
  return times;
}

const laterThan = ({ topicId, after }: TopicMark, now: number) => ({
  topicId,
  timestamp: { $gt: after },
  offset: { $gte: 0 },
  expiresAt: { $gt: now },
  ...notDeleted,
});

/** The limit of a read that waits for the majority; a cluster without one cannot confirm anything. */
const storedTimeoutMs = 10_000;

/**
 * Returns the records that are stored and that are not duplicates. A record that a `local` read returns can be reverted
 * by a failover; once the watermark has passed it, nothing would store it again. A `majority` read waits until the
 * majority has what the session has read and written.
 */
export async function storedOf(
  { messages, changes }: MessageCollections,
  records: readonly PlacedRecord[],
  { session, level }: { readonly session: ClientSession; readonly level: 'local' | 'majority' },
): Promise<Set<PlacedRecord>> {
  const options = { projection: { offset: 1 }, readConcern: { level }, maxTimeMS: storedTimeoutMs, session };
  const ids = records.filter(({ record }) => record.type === 'message').map(({ record }) => record.message.id);
  const places = records
    .filter(({ record }) => record.type !== 'message')
    .map(({ partition, offset }) => ({ partition, offset }));
  const ofMessages =
    ids.length === 0
      ? []
      : await messages.find({ _id: { $in: ids } }, { ...options, batchSize: ids.length + 1 }).toArray();
  const ofChanges =
    places.length === 0
      ? []
      : await changes.find({ _id: { $in: places } }, { ...options, batchSize: places.length + 1 }).toArray();
  const offsets = new Map(ofMessages.map(({ _id, offset }) => [_id, offset]));
  const changeOffsets = new Set(ofChanges.map(({ offset }) => offset));
  return new Set(
    records.filter(({ offset, record }) =>
      record.type === 'message' ? offsets.get(record.message.id) === offset : changeOffsets.has(offset),
    ),
  );
}

/** Returns the last offset of each topic below the given one; topics without one have no entry. */
export async function lastOffsetsBelow(
  { messages, changes }: MessageCollections,
  topicIds: readonly string[],
  below: number,
): Promise<Map<string, number>> {
  const found = await Promise.all([messages, changes].map((of) => newestOffsets(of, topicIds, { below })));
  const offsets = new Map<string, number>();
  for (const [topicId, offset] of found.flatMap((newest) => [...newest]))
    offsets.set(topicId, Math.max(offset, offsets.get(topicId) ?? -1));
  return offsets;
}

/**
 * Returns the partition's watermark; -1 if it has none. Nodes remember it, so a failover must not revert it: readers
 * would skip records that are stored again.
 */
export async function watermarkOf({ watermarks }: MessageCollections, partition: number): Promise<number> {
  return (await watermarks.findOne({ _id: partition }, { readConcern: { level: 'majority' } }))?.offset ?? -1;
}
