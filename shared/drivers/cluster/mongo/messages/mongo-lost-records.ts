import type { ClientSession, mongo } from 'mongoose';
import type { RecordCountRequest, RecordCounts } from '../../../../ports/messages/message-reads.ts';
import { lostRecordsToKeep } from '../../../lost-records.ts';
import { byTopic, type LostRecordDocument, type MessageCollections } from './mongo-message-collections.ts';
import { oldestOffsets } from './mongo-offset-range.ts';

/** Stores the offsets of records that the transaction removed. */
export async function storeLost(
  { messages, changes, lost }: MessageCollections,
  removed: readonly { readonly topicId: string; readonly offset?: number }[],
  session: ClientSession,
): Promise<void> {
  const byTopicId = Map.groupBy(removed, ({ topicId }) => topicId);
  const topicIds = [...byTopicId.keys()];
  const firstOfMessages = await oldestOffsets(messages, topicIds, { session });
  const firstOfChanges = await oldestOffsets(changes, topicIds, { session });
  const writes = [...byTopicId].flatMap(([topicId, records]): mongo.AnyBulkWriteOperation<LostRecordDocument>[] => {
    const first = Math.min(firstOfMessages.get(topicId) ?? Infinity, firstOfChanges.get(topicId) ?? Infinity);
    const { kept, below } = lostRecordsToKeep(
      records.map(({ offset }) => offset!),
      first === Infinity ? null : first,
    );
    const removals = below === null ? [] : [{ deleteMany: { filter: { topicId, offset: { $lt: below } } } }];
    const upserts = kept.map((offset) => ({
      updateOne: { filter: { _id: { topicId, offset } }, update: { $set: { topicId, offset } }, upsert: true },
    }));
    return [...removals, ...upserts];
  });
  if (writes.length > 0) await lost.bulkWrite(writes, { ordered: false, session });
}

export async function lastLostOffset(
  { messages, changes, lost }: MessageCollections,
  topicId: string,
  { from, before, now }: { from: number; before: number; now: number },
): Promise<number | null> {
  const inRange = { topicId, offset: { $gte: from, $lt: before } };
  const newest = { sort: { offset: -1 }, hint: byTopic, projection: { offset: 1 } } as const;
  const [removed, expired, ofExpired] = await Promise.all([
    lost.findOne(inRange, newest),
    messages.findOne({ ...inRange, expiresAt: { $lte: now } }, newest),
    changes
      .aggregate<{ offset: number }>(
        [
          { $match: inRange },
          { $sort: { offset: -1 } },
          ...ofMessagesThat(messages, { 'of.expiresAt': { $lte: now } }),
          { $limit: 1 },
        ],
        { hint: byTopic },
      )
      .next(),
  ]);
  const offsets = [removed, expired, ofExpired].flatMap((one) => (one === null ? [] : [one.offset!]));
  return offsets.length === 0 ? null : Math.max(...offsets);
}

export async function countRecordsFrom(
  { messages, changes }: MessageCollections,
  topicId: string,
  { from, max, since, now }: RecordCountRequest,
): Promise<RecordCounts> {
  const first = [{ $match: { topicId, offset: { $gte: from } } }, { $sort: { offset: 1 } }];
  const sums = (expiresAt: string) => [
    { $limit: max },
    {
      $group: {
        _id: null,
        all: { $sum: 1 },
        readable: { $sum: { $cond: [{ $gt: [expiresAt, now] }, 1, 0] } },
        expired: { $sum: { $cond: [{ $and: [{ $gt: [expiresAt, since] }, { $lte: [expiresAt, now] }] }, 1, 0] } },
      },
    },
  ];
  type Sums = { readonly all: number; readonly readable: number; readonly expired: number };
  const counts = await Promise.all([
    messages.aggregate<Sums>([...first, ...sums('$expiresAt')], { hint: byTopic }).next(),
    changes
      .aggregate<Sums>([...first, ...ofMessagesThat(messages, {}), { $unwind: '$of' }, ...sums('$of.expiresAt')], {
        hint: byTopic,
      })
      .next(),
  ]);
  return {
    readable: counts.reduce((sum, of) => sum + (of?.readable ?? 0), 0),
    expired: counts.reduce((sum, of) => sum + (of?.expired ?? 0), 0),
    isComplete: counts.every((of) => (of?.all ?? 0) < max),
  };
}

/** Stages that join changes with their stored message as `of`, and keep those that match. */
export const ofMessagesThat = (messages: MessageCollections['messages'], match: object) => [
  { $lookup: { from: messages.collectionName, localField: 'messageId', foreignField: '_id', as: 'of' } },
  { $match: { 'of.offset': { $gte: 0 }, ...match } },
];
