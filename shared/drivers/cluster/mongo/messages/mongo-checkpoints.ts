import type { mongo } from 'mongoose';
import { WriteBehindBuffer } from '../../../../async/write-behind-buffer.ts';
import { duplicatesOf, mapUnavailable } from '../mongo-connection.ts';
import type { MessageCollections, TopicStatsDocument } from './mongo-message-collections.ts';
import { checkpointId, countBetween, countStates, type CountState, type RangeCount } from './mongo-topic-counts.ts';

/** The time after which the messages of a batch are in checkpoints, and a read need not count them. */
const everyMs = 2_000;

/**
 * Moves the checkpoints of topics forward, some seconds after their messages. Only the fan-out does, and only up to the
 * watermark, because a message that is stored below a checkpoint later would be in no count. If a move is lost, the
 * next one counts its messages as well.
 */
export function mongoCheckpoints(
  collections: MessageCollections,
  onLoss: (error: unknown) => void,
): WriteBehindBuffer<number> {
  return new WriteBehindBuffer<number>({
    of: 'message counts',
    merge: Math.max,
    everyMs,
    onLoss,
    write: (upTo) => mapUnavailable(() => moveCheckpoints(collections, upTo)),
  });
}

/** Resolves with the topics that changed meanwhile. */
async function moveCheckpoints(
  collections: MessageCollections,
  upTo: ReadonlyMap<string, number>,
): Promise<Map<string, number>> {
  const states = await countStates(collections, [...upTo.keys()]);
  const ranges = [...upTo].flatMap(([topicId, offset]) => {
    const { countedTo } = states.get(topicId)!;
    return offset > countedTo ? [{ topicId, after: countedTo, upTo: offset }] : [];
  });
  const counts = await countBetween(collections, ranges);
  // A topic without messages in the range needs no checkpoint: it was removed, or they have expired.
  const moves = ranges.flatMap((range) => {
    const count = counts.get(range.topicId);
    return count === undefined ? [] : [{ ...range, state: states.get(range.topicId)!, count }];
  });
  if (moves.length === 0) return new Map();
  const moved = await collections.stats
    .bulkWrite(moves.map(moveOperation), { ordered: false })
    .then((result) => result.matchedCount + result.insertedCount)
    .catch((error: unknown) => void duplicatesOf(error)); // created meanwhile
  // The result does not say which topics had another revision. Moving a checkpoint again has no effect.
  return moved === moves.length ? new Map() : new Map(moves.map((move) => [move.topicId, move.upTo]));
}

interface Move {
  readonly topicId: string;
  readonly upTo: number;
  readonly state: CountState;
  readonly count: RangeCount;
}

/** The revision is part of the filter, because another transaction may have changed the count since it was read. */
function moveOperation({
  topicId,
  upTo,
  state,
  count: { messages, lastMessageAt },
}: Move): mongo.AnyBulkWriteOperation<TopicStatsDocument> {
  const _id = checkpointId(topicId);
  if (state.revision === undefined) {
    const document = { topicId, messageCount: messages, countedTo: upTo, revision: 0, lastOffset: upTo, lastMessageAt };
    return { insertOne: { document: { _id, ...document } } };
  }
  return {
    updateOne: {
      filter: { _id, revision: state.revision },
      update: {
        $set: { countedTo: upTo },
        $inc: { messageCount: messages, revision: 1 },
        $max: { lastOffset: upTo, lastMessageAt },
      },
    },
  };
}
