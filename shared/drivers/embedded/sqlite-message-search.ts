import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { foldCase } from '../../domain/fold-case.ts';
import { asManagersSee, type MessageFilter } from '../../domain/message-filter.ts';
import type { Priority, StoredMessage } from '../../domain/message.ts';
import type { ActivityCount, FoundMessages, MessagePage } from '../../ports/messages.ts';
import { addFoldedSearch, isUnconditional, messageConditions, type Condition } from './sqlite-message-conditions.ts';
import { messageColumns, toMessage, type MessageRow } from './sqlite-message-rows.ts';
import { offsetAtTimeIn } from './sqlite-offset-at-time.ts';
import { statementCache } from './sqlite-statement-cache.ts';

/** Work that may touch many rows, done in steps of some milliseconds: between two of them others have their turn. */
export type Steps<T> = Generator<void, T, void>;

/** Rows looked at in a step. */
const rowsPerStep = 2_000;
/** To begin with a topic costs about as much as so many rows. */
const rowsToBegin = 20;
/** Beyond so many rows it is worth finding out where in the topic a span of time begins and ends. */
const narrowedFrom = 2_000;
/** How far the clocks of publishing nodes may differ. */
const skewMs = 10_000;
/** Expired messages that the sweep has yet to remove are counted off one by one up to here; beyond, topics are counted anew. */
const expiredMax = 5_000;

/** A topic as the searches know it. */
interface TopicRow {
  readonly topic: number;
  readonly count: number;
  readonly lastOffset: number;
}

/** A piece of a topic: positions above `after`, up to `upTo`, inclusive. */
interface Range {
  readonly topic: number;
  readonly after: number;
  readonly upTo: number;
}

export type SqliteMessageSearch = ReturnType<typeof sqliteMessageSearch>;

/** The reads of the messages' tables that may touch any number of rows. For a connection of their own. */
export function sqliteMessageSearch(db: DatabaseSync) {
  const reader = new Reader(db);
  return {
    search: (filter: MessageFilter, page: MessagePage): Steps<FoundMessages> => (
      filter.text === null ? searchIndex(reader, filter, page) : searchText(reader, filter, page)),
    recent: (topicIds: readonly string[], page: { limit: number; now: number }): Steps<StoredMessage[]> =>
      recentMessages(reader, everything(topicIds, page.now), page.limit),
    activity: (filter: MessageFilter, bucketMs: number): Steps<ActivityCount[]> => countActivity(reader, filter, bucketMs),
  };
}

function everything(topicIds: readonly string[], now: number): MessageFilter {
  return { topicIds, text: null, priorityMin: null, priorityMax: null, tags: [], from: null, to: null, includesDeleted: false, now };
}

/** By the index alone: the total is counted, and of each topic only what can be on the page is looked at. */
function* searchIndex(reader: Reader, filter: MessageFilter, page: MessagePage): Steps<FoundMessages> {
  const topics = reader.topics(filter.topicIds);
  const total = yield* countMatching(reader, filter, topics);
  const offsets = page.offset >= total ? [] : yield* newestOffsets(reader, filter, { topics, count: page.offset + page.limit });
  return { messages: reader.messages(filter, offsets.slice(page.offset)), total };
}

function* recentMessages(reader: Reader, filter: MessageFilter, limit: number): Steps<StoredMessage[]> {
  const topics = reader.topics(filter.topicIds);
  return reader.messages(filter, yield* newestOffsets(reader, filter, { topics, count: limit }));
}

/** Every text is looked at, so all positions are known in the end, and with them the total. */
function* searchText(reader: Reader, filter: MessageFilter, page: MessagePage): Steps<FoundMessages> {
  const condition = messageConditions(filter);
  const needle = foldCase(filter.text!);
  let found: number[] = [];
  for (const range of ranges(reader, filter, reader.topics(filter.topicIds))) {
    if (range === 'pause') yield;
    else found = found.concat(reader.matching(range, condition, needle));
  }
  found.sort((a, b) => b - a);
  return { messages: reader.messages(filter, found.slice(page.offset, page.offset + page.limit)), total: found.length };
}

function* countActivity(reader: Reader, filter: MessageFilter, bucketMs: number): Steps<ActivityCount[]> {
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

function* countMatching(reader: Reader, filter: MessageFilter, topics: readonly TopicRow[]): Steps<number> {
  if (isUnconditional(filter)) {
    const counted = reader.countKnown(filter.topicIds, filter.now);
    if (counted !== null) return counted;
  }
  const condition = messageConditions(filter);
  let total = 0;
  for (const range of ranges(reader, filter, topics)) {
    if (range === 'pause') yield;
    else total += reader.countIn(range, condition);
  }
  return total;
}

/**
 * The highest positions that match, at most `count`, the highest first. The topics that were published to last come first,
 * and one whose last position lies below all that is wanted ends it.
 */
function* newestOffsets(
  reader: Reader, filter: MessageFilter, { topics, count }: { topics: readonly TopicRow[]; count: number },
): Steps<number[]> {
  const condition = messageConditions(filter);
  const isEach = isUnconditional(filter);
  let best: number[] = [];
  let floor = -1;
  let looked = 0;
  for (const topic of topics) {
    if (topic.lastOffset <= floor) break;
    const found = reader.newestIn({ topic: topic.topic, after: floor, upTo: topic.lastOffset }, condition, count);
    best = best.concat(found);
    // The floor pays for itself at once where little is wanted; where much is, sorting it again and again does not.
    if (best.length >= count && (floor < 0 || best.length >= count + Math.max(count / 4, 50))) {
      best = highest(best, count);
      floor = best.at(-1)!;
    }
    looked += rowsToBegin + (isEach ? found.length : Math.max(topic.count, found.length));
    if (looked < rowsPerStep) continue;
    looked = 0;
    yield;
  }
  return highest(best, count);
}

const highest = (offsets: number[], count: number): number[] => offsets.sort((a, b) => b - a).slice(0, count);

/** All of the topics in pieces that a step can take, with a `pause` where a step's worth has been handed out. */
function* ranges(reader: Reader, filter: MessageFilter, topics: readonly TopicRow[]): Generator<Range | 'pause', void, void> {
  let rows = 0;
  for (const { topic, count, lastOffset } of topics) {
    // Deleted messages are not counted; there are few.
    const whole = count <= narrowedFrom ? { topic, after: -1, upTo: lastOffset } : reader.narrowed(topic, filter, lastOffset);
    if (count <= rowsPerStep) {
      yield whole;
      rows += count + rowsToBegin;
    } else {
      for (let upTo = whole.upTo; upTo > whole.after;) {
        const after = Math.max(whole.after, reader.stepBack(topic, upTo, rowsPerStep));
        yield { topic, after, upTo };
        yield 'pause';
        upTo = after;
      }
    }
    if (rows < rowsPerStep) continue;
    rows = 0;
    yield 'pause';
  }
}

const byTopic = 'messages m INDEXED BY messages_by_topic';

/** The statements, each of them some milliseconds at most. */
class Reader {
  readonly #db: DatabaseSync;
  readonly #statement: ReturnType<typeof statementCache>;
  readonly #folded: { needle: string };
  readonly #offsetAtTime: ReturnType<typeof offsetAtTimeIn>;
  readonly #messagesAt: StatementSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#statement = statementCache(db);
    this.#folded = addFoldedSearch(db);
    this.#offsetAtTime = offsetAtTimeIn(db);
    this.#messagesAt = db.prepare(`
      SELECT ${messageColumns}, t.topic_id FROM messages m JOIN topic_stats t ON t.topic = m.topic
      WHERE m.offset IN (SELECT value FROM json_each(?)) AND (? OR m.deleted_at IS NULL) ORDER BY m.offset DESC`);
  }

  /** The topics that have anything, the one with the highest position first. */
  topics(topicIds: readonly string[]): TopicRow[] {
    const rows = this.#rows<[number, number, number]>(
      `SELECT topic, message_count, last_offset FROM topic_stats WHERE topic_id IN (SELECT value FROM json_each(?)) ORDER BY last_offset DESC`,
      [JSON.stringify(topicIds)],
    );
    return rows.map(([topic, count, lastOffset]) => ({ topic, count, lastOffset }));
  }

  /** What history shows of the topics, by the counts that every write keeps; null when too much of that has expired. */
  countKnown(topicIds: readonly string[], now: number): number | null {
    const ids = JSON.stringify(topicIds);
    this.#db.exec('BEGIN'); // both from the same moment
    try {
      const [[counted]] = this.#rows<[number | null]>(
        'SELECT sum(message_count) FROM topic_stats WHERE topic_id IN (SELECT value FROM json_each(?))', [ids]) as [[number | null]];
      const [[expired]] = this.#rows<[number]>(`
        SELECT count(*) FROM (
          SELECT 1 FROM messages m INDEXED BY messages_by_expiry
          WHERE m.expires_at <= ? AND m.topic IN (SELECT topic FROM topic_stats WHERE topic_id IN (SELECT value FROM json_each(?)))
            AND m.offset >= 0 AND m.deleted_at IS NULL LIMIT ?)`, [now, ids, expiredMax]) as [[number]];
      return expired < expiredMax ? (counted ?? 0) - expired : null;
    } finally {
      this.#db.exec('ROLLBACK');
    }
  }

  /** The part of the topic that the filter's span of time can lie in. */
  narrowed(topic: number, { from, to }: MessageFilter, lastOffset: number): Range {
    const first = from === null ? 0 : this.#offsetAtTime(topic, from);
    const end = to === null ? null : this.#offsetAtTime(topic, to + skewMs + 1);
    return { topic, after: (first ?? lastOffset + 1) - 1, upTo: end === null ? lastOffset : end - 1 };
  }

  /** The position that so many messages of the topic lie above, up to the given one; -1 where there are fewer. */
  stepBack(topic: number, upTo: number, count: number): number {
    const rows = this.#rows<[number]>(
      `SELECT m.offset FROM ${byTopic} WHERE m.topic = ? AND m.offset >= 0 AND m.offset <= ? ORDER BY m.offset DESC LIMIT 1 OFFSET ?`, [topic, upTo, count]);
    return rows[0]?.[0] ?? -1;
  }

  matching(range: Range, condition: Condition, needle: string): number[] {
    this.#folded.needle = needle;
    const { sql, bound } = inRange(range, condition);
    return this.#rows<[number]>(`SELECT m.offset FROM ${byTopic} WHERE ${sql}`, bound).map(([offset]) => offset);
  }

  newestIn(range: Range, condition: Condition, limit: number): number[] {
    const { sql, bound } = inRange(range, condition);
    return this.#rows<[number]>(`SELECT m.offset FROM ${byTopic} WHERE ${sql} ORDER BY m.offset DESC LIMIT ?`, [...bound, limit])
      .map(([offset]) => offset);
  }

  countIn(range: Range, condition: Condition): number {
    const { sql, bound } = inRange(range, condition);
    return this.#rows<[number]>(`SELECT count(*) FROM ${byTopic} WHERE ${sql}`, bound)[0]![0];
  }

  /** Start, priority and count of each bucket that has anything. */
  bucketsIn(range: Range, by: { condition: Condition; needle: string; bucketMs: number }): [number, number, number][] {
    this.#folded.needle = by.needle;
    const { sql, bound } = inRange(range, by.condition);
    return this.#rows<[number, number, number]>(
      `SELECT m.timestamp - m.timestamp % ? AS start, m.priority, count(*) FROM ${byTopic} WHERE ${sql} GROUP BY 1, 2`, [by.bucketMs, ...bound]);
  }

  /** The messages at the positions, the highest first. One that has been deleted or removed meanwhile is left out. */
  messages(filter: MessageFilter, offsets: readonly number[]): StoredMessage[] {
    if (offsets.length === 0) return [];
    const rows = this.#messagesAt.all(JSON.stringify(offsets), filter.includesDeleted ? 1 : 0) as unknown as (MessageRow & { topic_id: string })[];
    return rows.map((row) => asManagersSee(toMessage(row, row.topic_id), filter.now));
  }

  #rows<R extends unknown[]>(sql: string, bound: readonly SQLInputValue[]): R[] {
    return this.#statement(sql).all(...bound) as unknown as R[];
  }
}

function inRange({ topic, after, upTo }: Range, condition: Condition): Condition {
  return {
    sql: `m.topic = ? AND m.offset > ? AND m.offset <= ? AND ${condition.sql}`,
    bound: [topic, Math.max(after, -1), upTo, ...condition.bound],
  };
}
