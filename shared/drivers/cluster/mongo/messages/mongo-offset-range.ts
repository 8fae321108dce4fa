import type { MessageFilter } from '../../../../domain/messages/message-filter.ts';
import { clockSkewMs } from '../../../../ports/messages/message-reads.ts';
import type { ClientSession, mongo } from 'mongoose';
import { byTime, byTopic, type MessageCollections, type SearchedCollections } from './mongo-message-collections.ts';

interface Positions {
  $gte: number;
  $lte?: number;
}

/**
 * Returns the offset range of the topic's messages in a period, or null for an empty period. Without it, reading an old
 * period by offset would skip all newer messages. Offsets are in time order except for clock skew, so the first and
 * last offset are found within some seconds of the period's ends.
 */
export async function mongoOffsetRange(
  { messages, limits }: SearchedCollections,
  topicId: string,
  { from, to }: Pick<MessageFilter, 'from' | 'to'>,
): Promise<Positions | null> {
  const [lowest, highest] = await Promise.all([
    from === null ? 0 : extremeOffset([messages], topicId, { time: from, direction: 1, limits }),
    to === null ? Infinity : extremeOffset([messages], topicId, { time: to, direction: -1, limits }),
  ]);
  if (lowest === null || highest === null) return null;
  return highest === Infinity ? { $gte: lowest } : { $gte: lowest, $lte: highest };
}

/** The common fields of messages and changes. */
interface RecordDocument {
  readonly topicId: string;
  readonly offset?: number;
  readonly timestamp: number;
}

type RecordCollection = MessageCollections['messages' | 'changes'];

/**
 * Returns the lowest offset of a record at or after the time (direction 1), or the highest at or before it (-1), or
 * null. The nearest record by time bounds the search: a record at an offset further out differs from it by less than
 * the clock skew.
 */
export async function extremeOffset(
  collections: readonly RecordCollection[],
  topicId: string,
  { time, direction, limits = {} }: { time: number; direction: 1 | -1; limits?: { readonly maxTimeMS?: number } },
): Promise<number | null> {
  const options = { ...limits, projection: { _id: 0, offset: 1, timestamp: 1 }, hint: byTime } as const;
  const firstPerCollection = async (timestamp: object, sort: mongo.Sort) => {
    const found = await Promise.all(
      collections.map((collection) =>
        (collection as unknown as mongo.Collection<RecordDocument>).findOne(
          { topicId, offset: { $gte: 0 }, timestamp },
          { ...options, sort },
        ),
      ),
    );
    return found.filter((one) => one !== null);
  };
  const nearest = await firstPerCollection(direction === 1 ? { $gte: time } : { $lte: time }, { timestamp: direction });
  if (nearest.length === 0) return null;
  const times = nearest.map(({ timestamp }) => timestamp);
  const near =
    direction === 1
      ? { $gte: time, $lte: Math.min(...times) + clockSkewMs }
      : { $gte: Math.max(...times) - clockSkewMs, $lte: time };
  const outermost = await firstPerCollection(near, { offset: direction });
  // The nearest record may have been removed concurrently; its offset is still a valid bound.
  const offsets = (outermost.length > 0 ? outermost : nearest).map(({ offset }) => offset!);
  return direction === 1 ? Math.min(...offsets) : Math.max(...offsets);
}

export interface ReadOptions {
  readonly session?: ClientSession;
  readonly maxTimeMS?: number;
}

/** Returns the offset of each topic's newest document below `below`; topics without one have no entry. */
export async function newestOffsets(
  collection: RecordCollection,
  topicIds: readonly string[],
  { below = Number.MAX_SAFE_INTEGER, ...options }: ReadOptions & { readonly below?: number } = {},
): Promise<Map<string, number>> {
  return outerOffsets(collection, topicIds, { sort: { topicId: 1, offset: -1 }, below, options });
}

/** Returns the offset of each topic's oldest document; topics without one have no entry. */
export async function oldestOffsets(
  collection: RecordCollection,
  topicIds: readonly string[],
  options: ReadOptions = {},
): Promise<Map<string, number>> {
  return outerOffsets(collection, topicIds, {
    sort: { topicId: -1, offset: 1 },
    below: Number.MAX_SAFE_INTEGER,
    options,
  });
}

async function outerOffsets(
  collection: RecordCollection,
  topicIds: readonly string[],
  { sort, below, options }: { sort: Record<string, 1 | -1>; below: number; options: ReadOptions },
): Promise<Map<string, number>> {
  if (topicIds.length === 0) return new Map();
  // With `byTopic` this is a distinct scan, which reads one key per topic.
  const found = await (collection as unknown as mongo.Collection<RecordDocument>)
    .aggregate<{ _id: string; offset: number }>(
      [
        { $match: { topicId: { $in: [...topicIds] }, offset: { $gte: 0, $lt: below } } },
        { $sort: sort },
        { $group: { _id: '$topicId', offset: { $first: '$offset' } } },
      ],
      { ...options, hint: byTopic, batchSize: topicIds.length + 1 },
    )
    .toArray();
  return new Map(found.map(({ _id, offset }) => [_id, offset]));
}
