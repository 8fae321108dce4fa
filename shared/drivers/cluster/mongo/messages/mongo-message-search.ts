import type { mongo } from 'mongoose';
import { foldCase, isPlain } from '../../../../domain/fold-case.ts';
import {
  asManagersSee,
  deletedContentMs,
  matchesAllMessages,
  type MessageFilter,
} from '../../../../domain/messages/message-filter.ts';
import type { Priority, StoredMessage } from '../../../../domain/messages/message.ts';
import type { ActivityCount, FoundMessages, MessagePage } from '../../../../ports/messages/message-search.ts';
import {
  byExpiry,
  byTime,
  byTopic,
  notDeleted,
  visibleInHistory,
  toMessage,
  type MessageDocument,
  type SearchedCollections,
} from './mongo-message-collections.ts';
import { topicFigures } from './mongo-topic-counts.ts';
import { mongoOffsetRange } from './mongo-offset-range.ts';

type Query = mongo.Filter<MessageDocument>;

/**
 * Topics per query. For more topics than `internalQueryMaxScansToExplode` (200), MongoDB sorts all matches instead of
 * merging sorted scans.
 */
const topicsMerged = 100;

/** Matches collected per text search, because MongoDB limits the memory of a group. */
const collectedMax = 10_000;

/**
 * Above this number of offsets, a topic is searched by two concurrent queries: MongoDB runs a query on one core and
 * takes half a second for 100,000 messages.
 */
const splitAbove = 20_000;

/** Implements the port's `search`. */
export async function searchMessages(
  collections: SearchedCollections,
  filter: MessageFilter,
  page: MessagePage,
): Promise<FoundMessages> {
  const topicsQuery: TopicsQuery = { topicIds: filter.topicIds, query: queryOf(filter), times: filter };
  const isCollected = filter.text !== null && page.offset + page.limit <= collectedMax;
  const { documents, total } = isCollected
    ? await collectPage(collections, topicsQuery, page)
    : await findAndCount(collections, filter, topicsQuery, page);
  return { messages: documents.map((document) => asManagersSee(toMessage(document), filter.now)), total };
}

interface FoundDocuments {
  readonly documents: readonly MessageDocument[];
  readonly total: number;
}

/** The total requires reading every text, so the same pass also collects the page. */
async function collectPage(
  collections: SearchedCollections,
  topicsQuery: TopicsQuery,
  { limit, offset }: MessagePage,
): Promise<FoundDocuments> {
  const newestMax = offset + limit;
  const parts = await Promise.all(
    (await splitQuery(collections, topicsQuery)).map((part) => collectMatches(collections, part, newestMax)),
  );
  const total = parts.reduce((sum, part) => sum + part.total, 0);
  const ids = parts.flatMap(({ newest }) => newest).slice(offset, newestMax);
  if (ids.length === 0) return { documents: [], total };
  const ranks = new Map(ids.map((id, place) => [id, place]));
  const documents = await documentsOf(collections, ids, topicsQuery.query);
  return { documents: documents.sort((a, b) => ranks.get(a._id)! - ranks.get(b._id)!), total };
}

/** Returns the number of matches and the IDs of the newest ones, newest first. */
async function collectMatches(
  { messages, limits }: SearchedCollections,
  { topicIds, query, times }: TopicsQuery,
  newestMax: number,
): Promise<{ total: number; newest: string[] }> {
  const sortBy = topicIds.length === 1 ? { offset: -1 } : { timestamp: -1, offset: -1, topicId: -1 };
  const [found] = await messages
    .aggregate<{ total: number; newest: string[] }>(
      [
        { $match: { topicId: { $in: [...topicIds] }, ...query } },
        { $group: { _id: null, total: { $sum: 1 }, newest: { $topN: { n: newestMax, sortBy, output: '$_id' } } } },
      ],
      { hint: indexFor(times), ...limits },
    )
    .toArray();
  return found ?? { total: 0, newest: [] };
}

/** Returns one query, or two concurrent ones for a large topic: the newer half of its offsets first. */
async function splitQuery(collections: SearchedCollections, topicsQuery: TopicsQuery): Promise<TopicsQuery[]> {
  const [topicId] = topicsQuery.topicIds;
  if (topicId === undefined || topicsQuery.topicIds.length > 1 || indexFor(topicsQuery.times) !== byTopic)
    return [topicsQuery];
  const [lowest, highest] = await Promise.all([
    edgeOffset(collections, topicId, 1),
    edgeOffset(collections, topicId, -1),
  ]);
  if (highest - lowest < splitAbove) return [topicsQuery];
  const middle = Math.floor((lowest + highest) / 2);
  return [{ $gt: middle }, { $gte: 0, $lte: middle }].map((offsets) => ({
    ...topicsQuery,
    query: { ...topicsQuery.query, offset: offsets },
  }));
}

/** Returns the topic's lowest offset (1) or highest offset (-1). */
async function edgeOffset(
  { messages, limits }: SearchedCollections,
  topicId: string,
  direction: 1 | -1,
): Promise<number> {
  const message = await messages.findOne(
    { topicId, offset: { $gte: 0 } },
    { ...limits, sort: { offset: direction }, projection: { _id: 0, offset: 1 }, hint: byTopic },
  );
  return message?.offset ?? 0;
}

/** Returns the documents that still match, in any order. */
function documentsOf(
  { messages, limits }: SearchedCollections,
  ids: readonly string[],
  query: Query,
): Promise<MessageDocument[]> {
  return messages
    .find({ $and: [{ _id: { $in: [...ids] } }, query] }, { ...limits, batchSize: ids.length + 1 })
    .hint('_id_')
    .toArray();
}

async function findAndCount(
  collections: SearchedCollections,
  filter: MessageFilter,
  topicsQuery: TopicsQuery,
  page: MessagePage,
): Promise<FoundDocuments> {
  const [documents, total] = await Promise.all([
    findPage(collections, topicsQuery, page),
    countMatching(collections, filter, topicsQuery.query),
  ]);
  return { documents, total };
}

export async function recentMessages(
  collections: SearchedCollections,
  topicIds: readonly string[],
  { limit, now }: { limit: number; now: number },
): Promise<StoredMessage[]> {
  const query = { offset: { $gte: 0 }, ...visible(false, now) };
  const documents = await findPage(
    collections,
    { topicIds, query, times: { from: null, to: null } },
    { limit, offset: 0 },
  );
  return documents.map(toMessage);
}

interface TopicsQuery {
  readonly topicIds: readonly string[];
  readonly query: Query;
  /** The time bounds of the query. */
  readonly times: Times;
}

type Times = Pick<MessageFilter, 'from' | 'to'>;

/** The index for unordered reads: with a time range, the index by time scans less. */
const indexFor = ({ from, to }: Times): string => (from === null && to === null ? byTopic : byTime);

/** Returns a page ordered by offset for one topic, by time for several. */
async function findPage(
  collections: SearchedCollections,
  topicsQuery: TopicsQuery,
  page: MessagePage,
): Promise<MessageDocument[]> {
  const { topicIds, query, times } = topicsQuery;
  const [topicId] = topicIds;
  if (topicId === undefined) return [];
  if (topicIds.length > 1) return findPageOfTopics(collections, topicsQuery, page);
  const offsets = await mongoOffsetRange(collections, topicId, times);
  return offsets === null ? [] : findPageOfTopic(collections, { $and: [{ topicId, offset: offsets }, query] }, page);
}

export async function countActivity(
  { messages, limits }: SearchedCollections,
  filter: MessageFilter,
  bucketMs: number,
): Promise<ActivityCount[]> {
  const counts = await messages
    .aggregate<{ _id: { start: number; priority: Priority }; count: number }>(
      [
        { $match: { topicId: { $in: [...filter.topicIds] }, ...queryOf(filter) } },
        {
          $group: {
            _id: { start: { $subtract: ['$timestamp', { $mod: ['$timestamp', bucketMs] }] }, priority: '$priority' },
            count: { $sum: 1 },
          },
        },
      ],
      { hint: byTime, ...limits },
    )
    .toArray();
  return counts.map(({ _id: { start, priority }, count }) => ({ start, priority, count }));
}

async function findPageOfTopic(
  { messages, limits }: SearchedCollections,
  query: Query,
  { limit, offset }: MessagePage,
): Promise<MessageDocument[]> {
  return messages
    .find(query, limits)
    .sort({ offset: -1 })
    .skip(offset)
    .limit(limit)
    .batchSize(limit + 1)
    .hint(byTopic)
    .toArray();
}

type MessageRank = Pick<MessageDocument, '_id' | 'timestamp' | 'topicId' | 'offset'>;

/** Compares messages, newest first. */
function newestFirst(a: MessageRank, b: MessageRank): number {
  return b.timestamp - a.timestamp || b.offset! - a.offset! || (a.topicId < b.topicId ? 1 : -1);
}

/**
 * Queries the topics in groups, most recently published first. Stops when the remaining topics have no message newer
 * than the page.
 */
async function findPageOfTopics(
  collections: SearchedCollections,
  { topicIds, query }: Omit<TopicsQuery, 'times'>,
  { limit, offset }: MessagePage,
): Promise<MessageDocument[]> {
  const { messages, limits } = collections;
  const wanted = offset + limit;
  const topics = await byLastMessage(collections, topicIds);
  let newest: MessageRank[] = [];
  for (let at = 0; at < topics.length; at += topicsMerged) {
    const group = topics.slice(at, at + topicsMerged);
    const floor = newest.length < wanted ? -Infinity : newest.at(-1)!.timestamp;
    if (group[0]!.lastMessageAt < floor) break;
    const groupQuery: Query = {
      $and: [
        { topicId: { $in: group.map(({ topicId }) => topicId) } },
        ...(floor === -Infinity ? [] : [{ timestamp: { $gte: floor } }]),
        query,
      ],
    };
    const found = await messages
      .find<MessageRank>(groupQuery, { ...limits, projection: { timestamp: 1, topicId: 1, offset: 1 } })
      .sort({ timestamp: -1, offset: -1 })
      .limit(wanted)
      .batchSize(Math.min(wanted, 10_000) + 1)
      .hint(byTime)
      .toArray();
    newest = [...newest, ...found].sort(newestFirst).slice(0, wanted);
  }
  const documents = await documentsOf(
    collections,
    newest.slice(offset).map(({ _id }) => _id),
    query,
  );
  return documents.sort(newestFirst);
}

/** Returns the non-empty topics, newest message first. */
async function byLastMessage(
  { limits, ...collections }: SearchedCollections,
  topicIds: readonly string[],
): Promise<{ topicId: string; lastMessageAt: number }[]> {
  return [...(await topicFigures(collections, topicIds, limits))]
    .flatMap(([topicId, { lastMessageAt }]) => (lastMessageAt === null ? [] : [{ topicId, lastMessageAt }]))
    .sort((a, b) => b.lastMessageAt - a.lastMessageAt);
}

async function countMatching(collections: SearchedCollections, filter: MessageFilter, query: Query): Promise<number> {
  const { messages, limits } = collections;
  const topicId = { $in: [...filter.topicIds] };
  if (!matchesAllMessages(filter))
    return messages.countDocuments({ topicId, ...query }, { ...limits, hint: indexFor(filter) });
  // The counters include expired messages that are not swept yet.
  const [counted, expired] = await Promise.all([
    topicFigures(collections, filter.topicIds, limits),
    messages.countDocuments(
      { expiresAt: { $lte: filter.now }, topicId, ...visibleInHistory },
      { ...limits, hint: byExpiry },
    ),
  ]);
  return [...counted.values()].reduce((sum, { messageCount }) => sum + messageCount, 0) - expired;
}

/** Returns the filter's condition on a document, without its topic. */
function queryOf(filter: MessageFilter): Query {
  const { priorityMin, priorityMax, tags, from, to, text, includesDeleted, now } = filter;
  const needsContent = tags.length > 0 || text !== null;
  const conditions = [
    ...(text === null ? [] : [containsText(text)]),
    ...(includesDeleted && needsContent ? [{ $or: [notDeleted, { deletedAt: { $gt: now - deletedContentMs } }] }] : []),
  ];
  return {
    offset: { $gte: 0 },
    ...visible(includesDeleted, now),
    ...between('priority', priorityMin, priorityMax),
    ...between('timestamp', from, to),
    ...(tags.length === 0 ? {} : { tags: { $in: [...tags] } }),
    ...(conditions.length === 0 ? {} : { $and: conditions }),
  };
}

function visible(includesDeleted: boolean, now: number): Query {
  return { expiresAt: { $gt: now }, ...(includesDeleted ? {} : notDeleted) };
}

function between(field: 'priority' | 'timestamp', min: number | null, max: number | null): Query {
  if (min === null && max === null) return {};
  return { [field]: { ...(min === null ? {} : { $gte: min }), ...(max === null ? {} : { $lte: max }) } };
}

/** MongoDB folds A to Z, which suffices for plain text; other text is stored folded. */
function containsText(text: string): Query {
  const needle = foldCase(text);
  const foldedMatch: Query = { folded: { $regex: literal(needle) } };
  if (!isPlain(needle)) return foldedMatch;
  const plainMatch = { $regex: literal(needle), $options: 'i' };
  return { $or: [{ folded: null, $or: [{ message: plainMatch }, { title: plainMatch }] }, foldedMatch] };
}

/** Returns a regular expression that matches exactly the text. */
function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/#-]/g, '\\$&').replaceAll('\0', '\\x00');
}
