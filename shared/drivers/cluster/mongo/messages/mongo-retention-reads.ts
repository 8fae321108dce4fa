import type { Connection } from 'mongoose';
import type { StoredMessage } from '../../../../domain/messages/message.ts';
import type { ExpiredMessage, ExpiredOfTopic, LifetimeChange } from '../../../../ports/messages/message-retention.ts';
import { planMsMax } from '../../../../ports/messages/plan-limit.ts';
import {
  byExpiry,
  byTime,
  byTopic,
  notDeleted,
  toMessage,
  visibleInHistory,
  volumeBytes,
  type MessageCollections,
} from './mongo-message-collections.ts';
import { changeCheckpoints, countStates } from './mongo-topic-counts.ts';
import { inTransaction } from '../mongo-transaction.ts';

const limits = { maxTimeMS: planMsMax } as const;

/** Concurrent reads, so that a plan with many topics does not block others. */
const concurrentReads = 10;

export async function expiredMessages(
  { messages }: MessageCollections,
  time: number,
  except: readonly string[] = [],
): Promise<ExpiredOfTopic[]> {
  return messages
    .aggregate<ExpiredOfTopic>(
      [
        { $match: { expiresAt: { $lte: time }, topicId: { $nin: [...except] } } },
        { $group: { _id: '$topicId', messages: { $sum: 1 }, bytes: { $sum: volumeBytes } } },
        { $project: { _id: 0, topicId: '$_id', messages: 1, bytes: 1 } },
      ],
      { hint: byExpiry, ...limits },
    )
    .toArray();
}

export async function countExpiredMessages(
  { messages }: MessageCollections,
  time: number,
  { max, except = [] }: { max: number; except?: readonly string[] },
): Promise<number> {
  return messages.countDocuments(
    { expiresAt: { $lte: time }, topicId: { $nin: [...except] } },
    { limit: max, hint: byExpiry, ...limits },
  );
}

export async function oldestKeptOf(
  { messages }: MessageCollections,
  topicIds: readonly string[],
  time: number,
): Promise<Map<string, number>> {
  const oldest = new Map<string, number>();
  for (let at = 0; at < topicIds.length; at += concurrentReads) {
    await Promise.all(
      topicIds.slice(at, at + concurrentReads).map(async (topicId) => {
        const kept = await messages.findOne(
          { topicId, expiresAt: { $gt: time }, ...visibleInHistory },
          {
            sort: { timestamp: 1 },
            projection: { timestamp: 1 },
            hint: byTime,
            ...limits,
          },
        );
        if (kept !== null) oldest.set(topicId, kept.timestamp);
      }),
    );
  }
  return oldest;
}

export async function expiredMessagesOf(
  { messages }: MessageCollections,
  topicId: string,
  { after, time, limit }: { after: number; time: number; limit: number },
): Promise<ExpiredMessage[]> {
  const found = await messages
    .find({ topicId, offset: { $gt: Math.max(after, -1) }, expiresAt: { $lte: time } }, limits)
    .sort({ offset: 1 })
    .limit(limit)
    .batchSize(limit + 1)
    .hint(byTopic)
    .toArray();
  return found.map((document) => {
    const message = toMessage(document);
    const { id, offset, deletedAt } = message;
    return { message, state: { id, offset, contentRev: document.contentRev, deletedAt } };
  });
}

export async function heldMessages(
  { messages }: MessageCollections,
  topicId: string,
  { after, time, limit }: { after: number; time: number; limit: number },
): Promise<StoredMessage[]> {
  const found = await messages
    .find(
      {
        topicId,
        offset: { $gt: Math.max(after, -1) },
        $or: [{ expiresAt: { $lte: time } }, { deletedAt: { $exists: true } }],
      },
      limits,
    )
    .sort({ offset: 1 })
    .limit(limit)
    .batchSize(limit + 1)
    .hint(byTopic)
    .toArray();
  return found.map(toMessage);
}

/** Needs no transaction: concurrent changes of such a message do not affect its expiry. */
export async function changeLifetimes(
  { messages }: MessageCollections,
  topicId: string,
  { lifetimeMs, onlyLonger, after, limit, now }: LifetimeChange,
): Promise<number | null> {
  const found = await messages
    .find({ topicId, offset: { $gt: Math.max(after, -1) } }, { projection: { offset: 1, timestamp: 1, expiresAt: 1 } })
    .sort({ offset: 1 })
    .limit(limit)
    .batchSize(limit + 1)
    .hint(byTopic)
    .toArray();
  const changed = found.filter(
    ({ timestamp, expiresAt }) =>
      expiresAt > now && (onlyLonger ? timestamp + lifetimeMs > expiresAt : timestamp + lifetimeMs !== expiresAt),
  );
  if (changed.length > 0) {
    const ids = changed.map(({ _id }) => _id);
    await messages.updateMany({ _id: { $in: ids }, expiresAt: { $gt: now } }, [
      { $set: { expiresAt: { $add: ['$timestamp', lifetimeMs] } } },
    ]);
  }
  return found.at(-1)?.offset ?? null;
}

/**
 * Reads the counter and the actual count in one snapshot. If the counter changes concurrently, the transaction is
 * repeated.
 */
export async function recountTopic(
  connection: Connection,
  collections: MessageCollections,
  topicId: string,
): Promise<number> {
  let drift = 0;
  await inTransaction(connection, async (session) => {
    const states = await countStates(collections, [topicId], { session });
    const { messageCount, countedTo } = states.get(topicId)!;
    const counted = await collections.messages.countDocuments(
      { topicId, offset: { $gte: 0, $lte: countedTo }, ...notDeleted },
      { session, hint: byTopic },
    );
    drift = counted - messageCount;
    if (drift === 0) return;
    const changes = new Map([[topicId, { messages: drift, lastOffset: -1, lastMessageAt: null }]]);
    await changeCheckpoints(collections, states, { changes, session });
  });
  return drift;
}
