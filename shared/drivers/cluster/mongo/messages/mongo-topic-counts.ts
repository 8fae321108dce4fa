import type { ClientSession } from 'mongoose';
import type { TopicStats } from '../../../../ports/messages/message-reads.ts';
import {
  byTopic,
  checkpointPart,
  type MessageCollections,
  type MessageDocument,
  type TopicStatsDocument,
} from './mongo-message-collections.ts';
import { newestOffsets, type ReadOptions } from './mongo-offset-range.ts';

export interface TopicFigures extends TopicStats {
  /** -1 for an empty topic. */
  readonly lastOffset: number;
}

/** The sums and maxima of a topic's documents in `topic_stats`. */
export interface CountState {
  readonly messageCount: number;
  /** `messageCount` includes messages up to this offset. */
  readonly countedTo: number;
  /** Undefined if the topic has no checkpoint. */
  readonly revision: number | undefined;
  readonly lastOffset: number;
  readonly lastMessageAt: number | null;
}

const noState: CountState = {
  messageCount: 0,
  countedTo: -1,
  revision: undefined,
  lastOffset: -1,
  lastMessageAt: null,
};

/** Topics per query, because of its planning time. */
const topicsPerQuery = 100;

/** Reads the count states of the topics; every ID has an entry. */
export async function countStates(
  { stats }: Pick<MessageCollections, 'stats'>,
  topicIds: readonly string[],
  options: ReadOptions = {},
): Promise<Map<string, CountState>> {
  const states = new Map(topicIds.map((topicId) => [topicId, noState]));
  if (states.size === 0) return states;
  const found = await stats
    .find({ topicId: { $in: [...states.keys()] } }, { ...options, batchSize: 2 * states.size + 1 })
    .toArray();
  for (const document of found) {
    const { topicId } = document;
    states.set(topicId, withDocument(states.get(topicId)!, document));
  }
  return states;
}

function withDocument(state: CountState, document: TopicStatsDocument): CountState {
  const { _id, messageCount, lastOffset, lastMessageAt, countedTo, revision } = document;
  const isCheckpoint = _id.part === checkpointPart;
  // Without a checkpoint, the counters of an earlier version include everything up to their last offset.
  const counted = state.revision === undefined ? Math.max(state.countedTo, lastOffset) : state.countedTo;
  return {
    messageCount: state.messageCount + messageCount,
    countedTo: isCheckpoint ? countedTo! : counted,
    revision: isCheckpoint ? revision! : state.revision,
    lastOffset: Math.max(state.lastOffset, lastOffset),
    lastMessageAt: latest(state.lastMessageAt, lastMessageAt),
  };
}

/** The fields of a message that decide whether it counts. */
export type CountedState = Partial<Pick<MessageDocument, 'offset' | 'deletedAt'>>;

/**
 * Returns the change of a checkpoint by a change of a message; null: the message does not exist. A message without an
 * offset is in no count.
 */
export function countChange(
  countedTo: number,
  { before, after }: { readonly before: CountedState | null; readonly after: CountedState | null },
): number {
  const count = (state: CountedState | null) =>
    state !== null && state.deletedAt === undefined && (state.offset ?? Infinity) <= countedTo ? 1 : 0;
  return count(after) - count(before);
}

/** Changes of a topic's checkpoint in a transaction. Times and offsets only grow. */
export interface CheckpointChange {
  readonly messages: number;
  readonly lastOffset: number;
  readonly lastMessageAt: number | null;
}

/**
 * Changes checkpoints in a transaction that read `states`. Required for each topic of which the transaction changes
 * whether a message counts, even if the count stays: the new revision rejects a concurrent move of the checkpoint.
 */
export async function changeCheckpoints(
  { stats }: Pick<MessageCollections, 'stats'>,
  states: ReadonlyMap<string, CountState>,
  { changes, session }: { readonly changes: ReadonlyMap<string, CheckpointChange>; readonly session: ClientSession },
): Promise<void> {
  if (changes.size === 0) return;
  await stats.bulkWrite(
    [...changes].map(([topicId, { messages, lastOffset, lastMessageAt }]) => ({
      updateOne: {
        filter: { _id: checkpointId(topicId) },
        update: {
          $inc: { messageCount: messages, revision: 1 },
          $max: { lastOffset, ...(lastMessageAt === null ? {} : { lastMessageAt }) },
          $setOnInsert: { topicId, countedTo: states.get(topicId)!.countedTo },
        },
        upsert: true,
      },
    })),
    { ordered: false, session },
  );
}

export const checkpointId = (topicId: string): TopicStatsDocument['_id'] => ({ topicId, part: checkpointPart });

/** Returns the later time, or the only one, or null. */
export function latest(a: number | null, b: number | null | undefined): number | null {
  if (a === null || b === null || b === undefined) return a ?? b ?? null;
  return Math.max(a, b);
}

/** Reads counts, last offsets and times of the last publish; every ID has an entry. */
export async function topicFigures(
  collections: MessageCollections,
  topicIds: readonly string[],
  options: ReadOptions = {},
): Promise<Map<string, TopicFigures>> {
  const [states, newest] = await Promise.all([
    countStates(collections, topicIds, options),
    newestOffsets(collections.messages, topicIds, options),
  ]);
  const uncounted = [...states].flatMap(([topicId, { countedTo }]) =>
    (newest.get(topicId) ?? -1) > countedTo ? [{ topicId, after: countedTo, upTo: Number.MAX_SAFE_INTEGER }] : [],
  );
  const counts = await countBetween(collections, uncounted, options);
  return new Map(
    [...states].map(([topicId, { messageCount, lastOffset, lastMessageAt }]): [string, TopicFigures] => {
      const more = counts.get(topicId);
      return [
        topicId,
        {
          messageCount: messageCount + (more?.messages ?? 0),
          lastOffset: Math.max(lastOffset, newest.get(topicId) ?? -1),
          lastMessageAt: latest(lastMessageAt, more?.lastMessageAt),
        },
      ];
    }),
  );
}

/** The port's `topicStats`. */
export async function topicStatsOf(
  collections: MessageCollections,
  topicIds: readonly string[],
): Promise<Map<string, TopicStats>> {
  const figures = await topicFigures(collections, topicIds);
  return new Map([...figures].map(([id, { messageCount, lastMessageAt }]) => [id, { messageCount, lastMessageAt }]));
}

/** Returns the offset of each topic's last record; every ID has an entry. */
export async function lastOffsetsOf(
  collections: MessageCollections,
  topicIds: readonly string[],
): Promise<Map<string, number>> {
  const [states, newest] = await Promise.all([
    countStates(collections, topicIds),
    newestOffsets(collections.messages, topicIds),
  ]);
  return new Map(
    [...states].map(([topicId, { lastOffset }]) => [topicId, Math.max(lastOffset, newest.get(topicId) ?? -1)]),
  );
}

/** A range of offsets of a topic, without `after`. */
export interface OffsetRange {
  readonly topicId: string;
  readonly after: number;
  readonly upTo: number;
}

/** The messages in a range; `messages` excludes deleted ones. */
export interface RangeCount {
  readonly messages: number;
  readonly lastMessageAt: number;
}

/** Counts messages in the ranges, one per topic; topics without messages there have no entry. */
export async function countBetween(
  { messages }: Pick<MessageCollections, 'messages'>,
  ranges: readonly OffsetRange[],
  options: ReadOptions = {},
): Promise<Map<string, RangeCount>> {
  const counts = new Map<string, RangeCount>();
  for (let at = 0; at < ranges.length; at += topicsPerQuery) {
    const asked = ranges.slice(at, at + topicsPerQuery);
    const found = await messages
      .aggregate<RangeCount & { _id: string }>(
        [
          {
            $match: {
              $or: asked.map(({ topicId, after, upTo }) => ({ topicId, offset: { $gt: after, $lte: upTo } })),
            },
          },
          {
            $group: {
              _id: '$topicId',
              messages: { $sum: { $cond: [{ $eq: [{ $type: '$deletedAt' }, 'missing'] }, 1, 0] } },
              lastMessageAt: { $max: '$timestamp' },
            },
          },
        ],
        { ...options, hint: byTopic, batchSize: asked.length + 1 },
      )
      .toArray();
    for (const { _id, ...count } of found) counts.set(_id, count);
  }
  return counts;
}
