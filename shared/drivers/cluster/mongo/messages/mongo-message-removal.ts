import type { ClientSession, Connection, mongo } from 'mongoose';
import { plusVolume, type MessageVolume } from '../../../../domain/messages/message-volume.ts';
import type { MessageState } from '../../../../ports/messages/message-retention.ts';
import type { Messages } from '../../../../ports/messages/messages.ts';
import {
  byDeletion,
  byExpiry,
  byTopic,
  redactedRev,
  volumeBytes,
  type MessageCollections,
  type MessageDocument,
} from './mongo-message-collections.ts';
import { storeLost } from './mongo-lost-records.ts';
import { changeCheckpoints, countChange, countStates, latest, type CheckpointChange } from './mongo-topic-counts.ts';
import { inTransaction } from '../mongo-transaction.ts';

/**
 * Messages removed per transaction. Longer transactions would conflict more often with publishes to the same topics.
 */
const batchSizeMax = 500;

/**
 * Removes messages with their records. A batch, its changes and the counts of its topics are one transaction, so that
 * counts stay correct if a sweep is interrupted.
 */
export function mongoMessageRemoval(
  connection: Connection,
  collections: MessageCollections,
): Pick<Messages, 'removeExpired' | 'removeInState' | 'removeTopic' | 'redactDeleted'> {
  const remove: RemoveBatches = async (limit, query, onBatch) => {
    for (let left = limit; left > 0;) {
      const batchSize = Math.min(left, batchSizeMax);
      let removed: RemovedDocument[] = [];
      await inTransaction(connection, async (session) => {
        removed = await removeBatch(collections, { ...query, batchSize, session });
      });
      onBatch(volumeByTopic(removed), removed.at(-1));
      if (removed.length < batchSize) return;
      left -= removed.length;
    }
  };

  /**
   * All messages that expired earlier belong to excluded topics. Skips them, so that a run reads them once instead of
   * once per batch.
   */
  let swept = { except: '', expiresAt: 0 };

  const removeFrom = async (
    from: number,
    { time, limit, except }: { time: number; limit: number; except: readonly string[] },
  ) => {
    const all = new Map<string, MessageVolume>();
    let reached = from;
    const query = {
      filter: { expiresAt: { $gte: from, $lte: time }, topicId: { $nin: [...except] } },
      sort: { expiresAt: 1 },
      hint: byExpiry,
    } as const;
    await remove(limit, query, (removed, last) => {
      for (const [topicId, volume] of removed) all.set(topicId, plusVolume(all.get(topicId), volume));
      reached = last?.expiresAt ?? 0;
    });
    return { all, reached };
  };

  return {
    async redactDeleted(time, limit, except = []) {
      let redacted = 0;
      while (redacted < limit) {
        const batchSize = Math.min(limit - redacted, batchSizeMax);
        const count = await redactBatch(collections, { time, except, batchSize });
        redacted += count;
        if (count < batchSize) break;
      }
      return redacted;
    },

    async removeExpired(time, limit, except = []) {
      const of = [...except].sort().join();
      const from = swept.except === of ? swept.expiresAt : 0;
      let { all, reached } = await removeFrom(from, { time, limit, except });
      // Concurrent writes or changed expiries can add earlier messages.
      if (all.size === 0 && from > 0) ({ all, reached } = await removeFrom(0, { time, limit, except }));
      swept = { except: of, expiresAt: reached };
      return all;
    },

    removeInState: (topicId, of) => removeInState(remove, topicId, of),

    async removeTopic(topicId, limit) {
      let all = 0;
      await remove(limit, { filter: { topicId }, sort: {}, hint: byTopic }, (removed) => {
        all += removed.get(topicId)?.messages ?? 0;
      });
      if (all === 0) {
        await forgetTopic(collections, topicId);
      }
      return all;
    },
  };
}

/** Removes at most `limit` messages in batches. */
type RemoveBatches = (
  limit: number,
  query: BatchQuery,
  onBatch: (removed: Map<string, MessageVolume>, last: RemovedDocument | undefined) => void,
) => Promise<void>;

async function removeInState(
  remove: RemoveBatches,
  topicId: string,
  { time, states }: { time: number; states: readonly MessageState[] },
): Promise<MessageVolume> {
  let all: MessageVolume = { messages: 0, bytes: 0 };
  const add = (removed: Map<string, MessageVolume>) => {
    for (const volume of removed.values()) all = plusVolume(all, volume);
  };
  for (let at = 0; at < states.length; at += batchSizeMax) {
    const batch = new Map(states.slice(at, at + batchSizeMax).map((state) => [state.id, state]));
    const filter = { _id: { $in: [...batch.keys()] }, topicId, expiresAt: { $lte: time } };
    const isTaken = (found: RemovedDocument) => isInState(found, batch.get(found._id)!);
    await remove(batch.size, { filter, sort: {}, hint: '_id_', isTaken }, add);
  }
  const stubs = { topicId, offset: { $exists: false }, expiresAt: { $lte: time } };
  await remove(batchSizeMax, { filter: stubs, sort: {}, hint: byTopic }, add);
  return all;
}

const isInState = (found: RemovedDocument, { offset, contentRev, deletedAt }: MessageState): boolean =>
  found.offset === offset && found.contentRev === contentRev && (found.deletedAt ?? null) === deletedAt;

async function forgetTopic({ changes, lost, stats }: MessageCollections, topicId: string): Promise<void> {
  await changes.deleteMany({ topicId });
  await lost.deleteMany({ topicId });
  await stats.deleteMany({ topicId });
}

/** Needs no transaction: concurrent edits or sweeps of such a message have no effect. */
async function redactBatch(
  { messages }: MessageCollections,
  { time, except, batchSize }: { time: number; except: readonly string[]; batchSize: number },
): Promise<number> {
  const due: mongo.Filter<MessageDocument> = {
    deletedAt: { $lte: time },
    contentRev: { $lt: redactedRev },
    topicId: { $nin: [...except] },
  };
  const found = await messages
    .find(due, { projection: { _id: 1 } })
    .sort({ deletedAt: 1 })
    .limit(batchSize)
    .batchSize(batchSize + 1)
    .hint(byDeletion)
    .toArray();
  if (found.length === 0) return 0;
  await messages.updateMany(
    { _id: { $in: found.map(({ _id }) => _id) } },
    { $set: { message: '', title: null, tags: [], extras: null, contentRev: redactedRev }, $unset: { folded: '' } },
  );
  return found.length;
}

type RemovedDocument = Pick<
  MessageDocument,
  '_id' | 'topicId' | 'offset' | 'timestamp' | 'expiresAt' | 'contentRev' | 'deletedAt'
> & { readonly bytes: number };

interface BatchQuery {
  readonly filter: mongo.Filter<MessageDocument>;
  readonly sort: mongo.Sort;
  readonly hint: string;
  /** Of the found messages, those to remove; by default all. */
  readonly isTaken?: (found: RemovedDocument) => boolean;
}

/**
 * Returns the removed messages in the requested order. Updates the counts last, because that update can conflict with
 * publishes.
 */
async function removeBatch(
  collections: MessageCollections,
  query: BatchQuery & { batchSize: number; session: ClientSession },
): Promise<RemovedDocument[]> {
  const { filter, sort, hint, isTaken = () => true, batchSize, session } = query;
  const { messages, changes } = collections;
  const all = await messages
    .find<RemovedDocument>(filter, {
      session,
      projection: {
        topicId: 1,
        offset: 1,
        timestamp: 1,
        expiresAt: 1,
        contentRev: 1,
        deletedAt: 1,
        bytes: volumeBytes,
      },
    })
    .sort(sort)
    .limit(batchSize)
    .batchSize(batchSize + 1)
    .hint(hint)
    .toArray();
  const found = all.filter(isTaken);
  if (found.length === 0) return [];
  await messages.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } }, { session });
  const changed = found.filter(({ contentRev, deletedAt }) => contentRev >= 0 || deletedAt !== undefined);
  const ofChanged = { messageId: { $in: changed.map(({ _id }) => _id) } };
  const removedChanges =
    changed.length === 0
      ? []
      : await changes
          .find(ofChanged, { session, projection: { messageId: 1, topicId: 1, offset: 1 }, hint: 'byMessage' })
          .toArray();
  if (changed.length > 0) await changes.deleteMany(ofChanged, { session });
  const published = found.filter(({ offset }) => offset !== undefined);
  // Readers never get the records of a stub.
  const shown = new Set(published.map(({ _id }) => _id));
  await storeLost(
    collections,
    [...published, ...removedChanges.filter(({ messageId }) => shown.has(messageId))],
    session,
  );
  const states = await countStates(collections, [...new Set(published.map(({ topicId }) => topicId))], { session });
  const lowered = new Map<string, CheckpointChange>();
  for (const removed of published) {
    const { topicId, offset, timestamp } = removed;
    const before = lowered.get(topicId);
    lowered.set(topicId, {
      messages: (before?.messages ?? 0) + countChange(states.get(topicId)!.countedTo, { before: removed, after: null }),
      // A read takes these from stored messages that are not counted yet.
      lastOffset: Math.max(before?.lastOffset ?? -1, offset!),
      lastMessageAt: latest(before?.lastMessageAt ?? null, timestamp),
    });
  }
  await changeCheckpoints(collections, states, { changes: lowered, session });
  return found;
}

function volumeByTopic(documents: readonly { topicId: string; bytes: number }[]): Map<string, MessageVolume> {
  const volumes = new Map<string, MessageVolume>();
  for (const { topicId, bytes } of documents)
    volumes.set(topicId, plusVolume(volumes.get(topicId), { messages: 1, bytes }));
  return volumes;
}
