import type { DatabaseSync } from 'node:sqlite';
import { foldCase } from '../../../domain/fold-case.ts';
import type { MessageFilter } from '../../../domain/messages/message-filter.ts';
import type { Priority } from '../../../domain/messages/message.ts';
import type { ActivityCount, MessagePage } from '../../../ports/messages.ts';
import { isUnconditional, messageConditions } from './sqlite-message-conditions.ts';
import type { TopicMessageRow } from './sqlite-message-rows.ts';
import { Milestones } from './sqlite-milestones.ts';
import { SearchStatements, type Range, type TopicRow } from './sqlite-search-statements.ts';

/** Work that may touch many rows, done in steps of some milliseconds: between two of them others have their turn. */
export type Steps<T> = Generator<void, T, void>;

/** Rows looked at in a step. */
const rowsPerStep = 2_000;
/** To begin with a topic costs about as much as so many rows. */
const rowsToBegin = 20;
/** Topics whose newest messages are looked for by one statement. */
const topicsAtOnce = 100;
/** Beyond so many messages of a topic, a page of it is not counted off one by one where that can be helped. */
const passedOverMax = 2_000;
/** Beyond so many rows it is worth finding out where in the topic a span of time begins and ends. */
const narrowedFrom = 2_000;

/** What a search found: rows, which go from one thread to another in a third of the time that messages take (measured). */
export interface FoundRows {
  readonly rows: readonly TopicMessageRow[];
  readonly total: number;
}

interface Searcher {
  readonly reader: SearchStatements;
  readonly milestones: Milestones;
}

export type SqliteMessageSearch = ReturnType<typeof sqliteMessageSearch>;

/** The reads of the messages' tables that may touch any number of rows. For a connection of their own. */
export function sqliteMessageSearch(db: DatabaseSync) {
  const reader = new SearchStatements(db);
  const milestones = new Milestones(reader);
  return {
    search: (filter: MessageFilter, page: MessagePage): Steps<FoundRows> =>
      filter.text === null ? searchIndex({ reader, milestones }, filter, page) : searchText(reader, filter, page),
    recent: (topicIds: readonly string[], page: { limit: number; now: number }): Steps<TopicMessageRow[]> =>
      recentMessages(reader, everything(topicIds, page.now), page.limit),
    activity: (filter: MessageFilter, bucketMs: number): Steps<ActivityCount[]> =>
      countActivity(reader, filter, bucketMs),
  };
}

function everything(topicIds: readonly string[], now: number): MessageFilter {
  return {
    topicIds,
    text: null,
    priorityMin: null,
    priorityMax: null,
    tags: [],
    from: null,
    to: null,
    includesDeleted: false,
    now,
  };
}

/** By the index alone: the total is counted, and of each topic only what can be on the page is looked at. */
function* searchIndex(by: Searcher, filter: MessageFilter, page: MessagePage): Steps<FoundRows> {
  const { reader } = by;
  const { topics, known } = reader.counted(filter.topicIds, filter.now);
  const total = isUnconditional(filter) && known !== null ? known : yield* countMatching(reader, filter, topics);
  const offsets = page.offset >= total ? [] : yield* pageOffsets(by, filter, { topics, total, page });
  return { rows: reader.messages(filter, offsets), total };
}

function* recentMessages(reader: SearchStatements, filter: MessageFilter, limit: number): Steps<TopicMessageRow[]> {
  const topics = reader.topics(filter.topicIds);
  return reader.messages(filter, yield* newestOffsets(reader, filter, { topics, count: limit }));
}

/** The positions of a page, the highest first. Of one topic they are counted off from the nearer end. */
function* pageOffsets(
  { reader, milestones }: Searcher,
  filter: MessageFilter,
  { topics, total, page }: { topics: readonly TopicRow[]; total: number; page: MessagePage },
): Steps<number[]> {
  const [topic] = topics;
  if (topic === undefined || topics.length > 1) {
    if (isUnconditional(filter) && page.offset > 0 && reader.areAll(topics))
      return yield* newestOfEvery(reader, filter.now, page);
    return (yield* newestOffsets(reader, filter, { topics, count: page.offset + page.limit })).slice(page.offset);
  }
  const range = rangeOf(reader, filter, topic);
  const condition = messageConditions(filter);
  const below = Math.max(0, total - page.offset - page.limit);
  const limit = total - page.offset - below;
  if (isUnconditional(filter) && Math.min(below, page.offset) >= passedOverMax) {
    const from = yield* milestones.before(range, condition, {
      rank: below,
      stamp: () => `${reader.dataVersion()} ${total}`,
    });
    if (from !== null)
      return reader.oldestIn({ ...range, after: from.position - 1 }, condition, { offset: from.left, limit }).reverse();
  }
  if (below >= page.offset) return reader.newestIn(range, condition, page);
  return reader.oldestIn(range, condition, { offset: below, limit }).reverse();
}

/** Every text is looked at, so all positions are known in the end, and with them the total. */
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

/** The highest positions that match, at most `count`, the highest first. */
function* newestOffsets(
  reader: SearchStatements,
  filter: MessageFilter,
  wanted: { topics: readonly TopicRow[]; count: number },
): Steps<number[]> {
  if (!isUnconditional(filter)) return yield* newestOfEach(reader, filter, wanted);
  return (yield* newestOfAll(reader, filter, wanted)) ?? (yield* newestOfSome(reader, filter.now, wanted));
}

/** Of all topics that there are: what lies before the page is counted off without being looked at one by one. */
function* newestOfEvery(reader: SearchStatements, now: number, page: MessagePage): Steps<number[]> {
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
 * By walking all messages from the newest on, and passing over those of other topics: for topics that have many of them.
 * Null where that would be longer than to ask topic by topic.
 */
function* newestOfAll(
  reader: SearchStatements,
  filter: MessageFilter,
  { topics, count }: { topics: readonly TopicRow[]; count: number },
): Steps<number[] | null> {
  const last = topics[0]?.lastOffset ?? -1;
  const share = topics.reduce((sum, topic) => sum + topic.count, 0) / (last + 1);
  const expected = count / share;
  if (!(expected < topics.length * rowsToBegin)) return null;
  const isWanted = new Set(topics.map(({ topic }) => topic));
  const found: number[] = [];
  let before = last + 1;
  for (let walked = 0; walked < 2 * expected + rowsPerStep; walked += rowsPerStep) {
    const rows = reader.newestBelow(before, filter.now, {
      limit: Math.min(rowsPerStep, Math.ceil(1.2 * expected)),
      offset: 0,
    });
    for (const [offset, topic] of rows) {
      if (isWanted.has(topic)) found.push(offset);
      if (found.length === count) return found;
    }
    if (rows.length === 0) return found;
    before = rows.at(-1)![0];
    yield;
  }
  return null;
}

/**
 * What the topics have in the newest part of all, which should hold enough if their messages lie evenly, and further back where it
 * does not. Many topics by one statement: one for each takes several times as long.
 */
function* newestOfSome(
  reader: SearchStatements,
  now: number,
  { topics, count }: { topics: readonly TopicRow[]; count: number },
): Steps<number[]> {
  const last = topics[0]?.lastOffset ?? -1;
  const expected = (count / topics.reduce((sum, topic) => sum + topic.count, 1)) * (last + 1);
  for (let reach = Math.ceil(2 * expected); ; reach *= 8) {
    let best: number[] = [];
    let floor = Math.max(-1, last - reach);
    for (let at = 0; at < topics.length && topics[at]!.lastOffset > floor; at += topicsAtOnce) {
      if (at > 0) yield;
      best = highest(
        best.concat(reader.newestOf(topics.slice(at, at + topicsAtOnce), now, { after: floor, limit: count })),
        count,
      );
      if (best.length === count) floor = best.at(-1)!;
    }
    if (best.length === count || reach > last) return best;
  }
}

/**
 * Topic by topic: those that were published to last come first, and one whose last position lies below all that is wanted
 * ends it.
 */
function* newestOfEach(
  reader: SearchStatements,
  filter: MessageFilter,
  { topics, count }: { topics: readonly TopicRow[]; count: number },
): Steps<number[]> {
  const condition = messageConditions(filter);
  let best: number[] = [];
  let floor = -1;
  let looked = 0;
  for (const topic of topics) {
    if (topic.lastOffset <= floor) break;
    const { after, upTo } = rangeOf(reader, filter, topic);
    const found = reader.newestIn({ topic: topic.topic, after: Math.max(after, floor), upTo }, condition, {
      limit: count,
      offset: 0,
    });
    best = best.concat(found);
    // The floor pays for itself at once where little is wanted; where much is, sorting it again and again does not.
    if (best.length >= count && (floor < 0 || best.length >= count + Math.max(count / 4, 50))) {
      best = highest(best, count);
      floor = best.at(-1)!;
    }
    looked += rowsToBegin + Math.max(topic.count, found.length);
    if (looked < rowsPerStep) continue;
    looked = 0;
    yield;
  }
  return highest(best, count);
}

const highest = (offsets: number[], count: number): number[] => offsets.sort((a, b) => b - a).slice(0, count);

/** The part of the topic that what is wanted can lie in. Deleted messages are not counted in its size; there are few. */
function rangeOf(reader: SearchStatements, filter: MessageFilter, { topic, count, lastOffset }: TopicRow): Range {
  const isNarrow = filter.from !== null || filter.to !== null;
  return isNarrow && count > narrowedFrom
    ? reader.narrowed(topic, filter, lastOffset)
    : { topic, after: -1, upTo: lastOffset };
}

/**
 * All of the topics in pieces that a step can take, with a `pause` where a step's worth has been handed out. A large topic is cut
 * by positions, as if its messages lay evenly among them: to count them off first would cost a sixth of a search.
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
      rows += count + rowsToBegin;
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
