import type { ClientSession, Connection, mongo } from 'mongoose';
import type { Messages } from '../../ports/messages.ts';
import { byDeletion, byExpiry, byTopic, contentTaken, type MessageCollections, type MessageDocument } from './mongo-message-collections.ts';
import { inTransaction } from './mongo-transaction.ts';

/** Messages removed in one transaction: long ones meet the publishes to the same topics, and are run again. */
const batchSizeMax = 500;

/** The part of a topic's figures that sweeps count in: no publish meets them there. */
const sweepsPart = -1;

/**
 * Removes messages with their records. A batch, its changes and the counts of its topics are one transaction, so that a
 * sweep that was interrupted leaves the counts right and just goes on.
 */
export function mongoMessageRemoval(connection: Connection, collections: MessageCollections): Pick<Messages, 'removeExpired' | 'removeTopic' | 'emptyDeleted'> {
  const remove = async (limit: number, query: BatchQuery, onBatch: (removed: Map<string, number>) => void): Promise<void> => {
    for (let left = limit; left > 0; ) {
      const batchSize = Math.min(left, batchSizeMax);
      let removed = new Map<string, number>();
      await inTransaction(connection, async (session) => {
        removed = await removeBatch(collections, { ...query, batchSize, session });
      });
      onBatch(removed);
      const count = [...removed.values()].reduce((sum, one) => sum + one, 0);
      if (count < batchSize) return;
      left -= count;
    }
  };

  return {
    async emptyDeleted(time, limit, except = []) {
      let emptied = 0;
      while (emptied < limit) {
        const batchSize = Math.min(limit - emptied, batchSizeMax);
        const count = await emptyBatch(collections, { time, except, batchSize });
        emptied += count;
        if (count < batchSize) break;
      }
      return emptied;
    },

    async removeExpired(time, limit, except = []) {
      const all = new Map<string, number>();
      const query = { filter: { expiresAt: { $lte: time }, topicId: { $nin: [...except] } }, sort: { expiresAt: 1 }, hint: byExpiry } as const;
      await remove(limit, query, (removed) => {
        for (const [topicId, count] of removed) all.set(topicId, (all.get(topicId) ?? 0) + count);
      });
      return all;
    },

    async removeTopic(topicId, limit) {
      let all = 0;
      await remove(limit, { filter: { topicId }, sort: {}, hint: byTopic }, (removed) => {
        all += removed.get(topicId) ?? 0;
      });
      if (all === 0) {
        await collections.changes.deleteMany({ topicId });
        await collections.stats.deleteMany({ topicId });
      }
      return all;
    },
  };
}

/** No transaction: what an edit or a sweep beside this one does to such a message meanwhile does not matter. */
async function emptyBatch(
  { messages }: MessageCollections, { time, except, batchSize }: { time: number; except: readonly string[]; batchSize: number },
): Promise<number> {
  const due: mongo.Filter<MessageDocument> = { deletedAt: { $lte: time }, contentRev: { $lt: contentTaken }, topicId: { $nin: [...except] } };
  const found = await messages.find(due, { projection: { _id: 1 } }).sort({ deletedAt: 1 }).limit(batchSize).batchSize(batchSize + 1).hint(byDeletion).toArray();
  if (found.length === 0) return 0;
  await messages.updateMany(
    { _id: { $in: found.map(({ _id }) => _id) } },
    { $set: { message: '', title: null, tags: [], contentRev: contentTaken }, $unset: { folded: '' } },
  );
  return found.length;
}

interface BatchQuery {
  readonly filter: mongo.Filter<MessageDocument>;
  readonly sort: mongo.Sort;
  readonly hint: string;
}

/** Returns how many went per topic. The counts come last, since that is where the transaction meets publishes. */
async function removeBatch(
  { messages, changes, stats }: MessageCollections, query: BatchQuery & { batchSize: number; session: ClientSession },
): Promise<Map<string, number>> {
  const { filter, sort, hint, batchSize, session } = query;
  const found = await messages
    .find(filter, { session, projection: { topicId: 1, offset: 1, contentRev: 1, deletedAt: 1 } })
    .sort(sort).limit(batchSize).batchSize(batchSize + 1).hint(hint).toArray();
  if (found.length === 0) return new Map();
  await messages.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } }, { session });
  const changed = found.filter(({ contentRev, deletedAt }) => contentRev >= 0 || deletedAt !== undefined);
  if (changed.length > 0) await changes.deleteMany({ messageId: { $in: changed.map(({ _id }) => _id) } }, { session });
  const counted = countByTopic(found.filter(({ offset, deletedAt }) => offset !== undefined && deletedAt === undefined));
  if (counted.size > 0) {
    await stats.bulkWrite([...counted].map(([topicId, count]) => ({
      updateOne: {
        filter: { _id: { topicId, part: sweepsPart } },
        update: { $inc: { messageCount: -count }, $max: { lastOffset: -1 }, $setOnInsert: { topicId } },
        upsert: true,
      },
    })), { ordered: false, session });
  }
  return countByTopic(found);
}

function countByTopic(documents: readonly { topicId: string }[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { topicId } of documents) counts.set(topicId, (counts.get(topicId) ?? 0) + 1);
  return counts;
}
