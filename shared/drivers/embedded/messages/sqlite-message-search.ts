import type { DatabaseSync } from 'node:sqlite';
import { foldCase } from '../../../domain/fold-case.ts';
import { allMessagesOf, matchesAllMessages, type MessageFilter } from '../../../domain/messages/message-filter.ts';
import type { Priority } from '../../../domain/messages/message.ts';
import type { ActivityCount, MessagePage } from '../../../ports/messages/message-search.ts';
import { messageConditions } from './sqlite-message-conditions.ts';
import type { TopicMessageRow } from './sqlite-message-rows.ts';
import { Milestones } from './sqlite-milestones.ts';
import { SearchStatements, type Range, type TopicRow } from './sqlite-search-statements.ts';

/** Work on many rows, in steps of some milliseconds, so that other work can run in between. */
export type Steps<T> = Generator<void, T, void>;

/** Rows per step. */
const rowsPerStep = 2_000;
/** The cost of starting a topic, in rows. */
const topicStartCost = 20;
/** Topics per statement when finding the newest messages. */
const topicsAtOnce = 100;
/** Above this number of messages, pages of a topic use milestones where possible, instead of counting rows. */
const skippedMax = 2_000;
/** Above this number of rows, finds the bounds of a time range first. */
const narrowAbove = 2_000;

/** The result of a search as rows, which are sent between threads in a third of the time of messages (measured). */
export interface FoundRows {
  readonly rows: readonly TopicMessageRow[];
  readonly total: number;
}

interface Searcher {
  readonly reader: SearchStatements;
  readonly milestones: Milestones;
}

export type SqliteMessageSearch = ReturnType<typeof sqliteMessageSearch>;

/** Reads of the message tables that may touch any number of rows. They need their own connection. */
export function sqliteMessageSearch(db: DatabaseSync) {
  const reader = new SearchStatements(db);
  const milestones = new Milestones(reader);
  return {
    search: (filter: MessageFilter, page: MessagePage): Steps<FoundRows> =>
      filter.text === null ? searchIndex({ reader, milestones }, filter, page) : searchText(reader, filter, page),
    recent: (topicIds: readonly string[], page: { limit: number; now: number }): Steps<TopicMessageRow[]> =>
      recentMessages(reader, allMessagesOf(topicIds, { now: page.now }), page.limit),
    activity: (filter: MessageFilter, bucketMs: number): Steps<ActivityCount[]> =>
      countActivity(reader, filter, bucketMs),
  };
}

/** Uses only the index: counts the total, and reads only the part of each topic that can be on the page. */
function* searchIndex(by: Searcher, filter: MessageFilter, page: MessagePage): Steps<FoundRows> {
  const { reader } = by;
  const { topics, known } = reader.counted(filter.topicIds, filter.now);
  const total = matchesAllMessages(filter) && known !== null ? known : yield* countMatching(reader, filter, topics);
  const offsets = page.offset >= total ? [] : yield* pageOffsets(by, filter, { topics, total, page });
  return { rows: reader.messages(filter, offsets), total };
}

function* recentMessages(reader: SearchStatements, filter: MessageFilter, limit: number): Steps<TopicMessageRow[]> {
  const topics = reader.topics(filter.topicIds);
  return reader.messages(filter, yield* newestOffsets(reader, filter, { topics, count: limit }));
}

/** Returns the offsets of a page, highest first. For one topic, counts from the nearer end. */
function* pageOffsets(
  { reader, milestones }: Searcher,
  filter: MessageFilter,
  { topics, total, page }: { topics: readonly TopicRow[]; total: number; page: MessagePage },
): Steps<number[]> {
  const [topic] = topics;
  if (topic === undefined || topics.length > 1) {
    if (matchesAllMessages(filter) && page.offset > 0 && reader.areAll(topics))
      return yield* newestOfAllTopics(reader, filter.now, page);
    return (yield* newestOffsets(reader, filter, { topics, count: page.offset + page.limit })).slice(page.offset);
  }
  const range = rangeOf(reader, filter, topic);
  const condition = messageConditions(filter);
  const below = Math.max(0, total - page.offset - page.limit);
  const limit = total - page.offset - below;
  if (matchesAllMessages(filter) && Math.min(below, page.offset) >= skippedMax) {
    const from = yield* milestones.find(range, condition, {
      rank: below,
      stamp: () => `${reader.dataVersion()} ${total}`,
    });
    if (from !== null)
      return reader
        .oldestIn({ ...range, after: from.offset - 1 }, condition, { offset: from.remaining, limit })
        .reverse();
  }
  if (below >= page.offset) return reader.newestIn(range, condition, page);
  return reader.oldestIn(range, condition, { offset: below, limit }).reverse();
}

/** Checks every text, and returns the page and the total. */
function* searchText(reader: SearchStatements, filter: MessageFilter, page: MessagePage): Steps<FoundRows> {
  const condition = messageConditions(filter);
  const needle = foldCase(filter.text!);
  let found: number[] = [];
  for (const range of ranges(reader, filter, reader.topics(filter.topicIds))) {
    if (range === 'pause') yield;
    else found = found.concat(reader.matching(range, condition, needle));
  }
  found.sort((a, b) => b - a);
  return { rows: reader.messages(filter, found.slice(page.offset, page.offset + page.limit)), total: found.length };
}

function* countActivity(reader: SearchStatements, filter: MessageFilter, bucketMs: number): Steps<ActivityCount[]> {
  const condition = messageConditions(filter);
  const needle = filter.text === null ? '' : foldCase(filter.text);
  const counts = new Map<string, { start: number; priority: Priority; count: number }>();
  for (const range of ranges(reader, filter, reader.topics(filter.topicIds))) {
    if (range === 'pause') {
      yield;
      continue;
    }
    for (const [start, priority, count] of reader.bucketsIn(range, { condition, needle, bucketMs })) {
      const key = `${start} ${priority}`;
      const known = counts.get(key);
      if (known === undefined) counts.set(key, { start, priority: priority as Priority, count });
      else known.count += count;
    }
  }
  return [...counts.values()];
}

function* countMatching(reader: SearchStatements, filter: MessageFilter, topics: readonly TopicRow[]): Steps<number> {
  const condition = messageConditions(filter);
  let total = 0;
  for (const range of ranges(reader, filter, topics)) {
    if (range === 'pause') yield;
    else total += reader.countIn(range, condition);
  }
  return total;
}

/** Returns at most `count` highest matching offsets, highest first. */
function* newestOffsets(
  reader: SearchStatements,
  filter: MessageFilter,
  wanted: { topics: readonly TopicRow[]; count: number },
): Steps<number[]> {
  if (!matchesAllMessages(filter)) return yield* newestByTopic(reader, filter, wanted);
  return (yield* newestByFullScan(reader, filter, wanted)) ?? (yield* newestByRecentScan(reader, filter.now, wanted));
}

/** Pages over all topics: skips rows before the page without checking them. */
function* newestOfAllTopics(reader: SearchStatements, now: number, page: MessagePage): Steps<number[]> {
  let before = Number.MAX_SAFE_INTEGER;
  for (let left = page.offset; left > 0;) {
    const step = Math.min(left, rowsPerStep);
    const [last] = reader.newestBelow(before, now, { limit: 1, offset: step - 1 });
    if (last === undefined) return [];
    [before] = last;
    left -= step;
    if (left > 0) yield;
  }
  return reader.newestBelow(before, now, { limit: page.limit, offset: 0 }).map(([offset]) => offset);
}

/**
 * Scans all messages from the newest and skips other topics, for topics with a large share of the messages. Returns
 * null if reading topic by topic would be faster.
 */
function* newestByFullScan(
  reader: SearchStatements,
  filter: MessageFilter,
  { topics, count }: { topics: readonly TopicRow[]; count: number },
): Steps<number[] | null> {
  const last = topics[0]?.lastOffset ?? -1;
  const share = topics.reduce((sum, topic) => sum + topic.count, 0) / (last + 1);
  const expected = count / share;
  if (!(expected < topics.length * topicStartCost)) return null;
  const wantedTopics = new Set(topics.map(({ topic }) => topic));
  const found: number[] = [];
  let before = last + 1;
  for (let scannedRows = 0; scannedRows < 2 * expected + rowsPerStep; scannedRows += rowsPerStep) {
    const rows = reader.newestBelow(before, filter.now, {
      limit: Math.min(rowsPerStep, Math.ceil(1.2 * expected)),
      offset: 0,
    });
    for (const [offset, topic] of rows) {
      if (wantedTopics.has(topic)) found.push(offset);
      if (found.length === count) return found;
    }
    if (rows.length === 0) return found;
    before = rows.at(-1)![0];
    yield;
  }
  return null;
}

/**
 * Reads the topics' messages in the newest part of the log, which suffices if they are evenly distributed; otherwise
 * reads further back. One statement for many topics is several times faster than one per topic.
 */
function* newestByRecentScan(
  reader: SearchStatements,
  now: number,
  { topics, count }: { topics: readonly TopicRow[]; count: number },
): Steps<number[]> {
  const last = topics[0]?.lastOffset ?? -1;
  const expected = (count / topics.reduce((sum, topic) => sum + topic.count, 1)) * (last + 1);
  for (let reach = Math.ceil(2 * expected); ; reach *= 8) {
    let newest: number[] = [];
    let floor = Math.max(-1, last - reach);
    for (let at = 0; at < topics.length && topics[at]!.lastOffset > floor; at += topicsAtOnce) {
      if (at > 0) yield;
      newest = highest(
        newest.concat(reader.newestOf(topics.slice(at, at + topicsAtOnce), now, { after: floor, limit: count })),
        count,
      );
      if (newest.length === count) floor = newest.at(-1)!;
    }
    if (newest.length === count || reach > last) return newest;
  }
}

/**
 * Reads topic by topic, most recently published first. Stops at a topic whose last offset is below all offsets found so
 * far.
 */
function* newestByTopic(
  reader: SearchStatements,
  filter: MessageFilter,
  { topics, count }: { topics: readonly TopicRow[]; count: number },
): Steps<number[]> {
  const condition = messageConditions(filter);
  let newest: number[] = [];
  let floor = -1;
  let scanned = 0;
  for (const topic of topics) {
    if (topic.lastOffset <= floor) break;
    const { after, upTo } = rangeOf(reader, filter, topic);
    const found = reader.newestIn({ topic: topic.topic, after: Math.max(after, floor), upTo }, condition, {
      limit: count,
      offset: 0,
    });
    newest = newest.concat(found);
    // Sorts only for few results, because sorting many repeatedly costs more than the higher floor saves.
    if (newest.length >= count && (floor < 0 || newest.length >= count + Math.max(count / 4, 50))) {
      newest = highest(newest, count);
      floor = newest.at(-1)!;
    }
    scanned += topicStartCost + Math.max(topic.count, found.length);
    if (scanned < rowsPerStep) continue;
    scanned = 0;
    yield;
  }
  return highest(newest, count);
}

const highest = (offsets: number[], count: number): number[] => offsets.sort((a, b) => b - a).slice(0, count);

/** Returns the part of the topic that can contain results. */
function rangeOf(reader: SearchStatements, filter: MessageFilter, { topic, count, lastOffset }: TopicRow): Range {
  const isNarrow = filter.from !== null || filter.to !== null;
  return isNarrow && count > narrowAbove
    ? reader.narrow(topic, filter, lastOffset)
    : { topic, after: -1, upTo: lastOffset };
}

/**
 * Splits the topics into pieces for one step, with a `pause` after each step. Splits a large topic by offsets, assuming
 * an even distribution: counting first would cost a sixth of a search.
 */
function* ranges(
  reader: SearchStatements,
  filter: MessageFilter,
  topics: readonly TopicRow[],
): Generator<Range | 'pause', void, void> {
  let rows = 0;
  for (const one of topics) {
    const { topic, count, lastOffset } = one;
    const whole = rangeOf(reader, filter, one);
    if (count <= rowsPerStep) {
      yield whole;
      rows += count + topicStartCost;
    } else {
      const width = Math.ceil(((lastOffset + 1) / count) * rowsPerStep);
      for (let upTo = whole.upTo; upTo > whole.after; upTo -= width) {
        yield { topic, after: Math.max(whole.after, upTo - width), upTo };
        yield 'pause';
      }
    }
    if (rows < rowsPerStep) continue;
    rows = 0;
    yield 'pause';
  }
}
