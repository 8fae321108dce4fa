import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { MessageFilter } from '../../../domain/messages/message-filter.ts';
import { clockSkewMs } from '../../../ports/messages/message-reads.ts';
import type { MessagePage } from '../../../ports/messages/message-search.ts';
import { addFoldedSearch, type Condition } from './sqlite-message-conditions.ts';
import { messageColumns, prepareArrays, type TopicMessageRow } from './sqlite-message-rows.ts';
import { offsetAtTimeIn } from './sqlite-offset-at-time.ts';
import { statementCache } from '../sqlite/sqlite-statement-cache.ts';

/**
 * The maximum of expired messages that a search subtracts from the stored counts of topics. If more wait for the sweep,
 * it counts the messages instead.
 */
const expiredMax = 5_000;

/** A topic in searches. */
export interface TopicRow {
  readonly topic: number;
  readonly count: number;
  readonly lastOffset: number;
}

type StatsRow = [topic: number, count: number, lastOffset: number, topicId: string];

/** A piece of a topic: offsets above `after`, up to and including `upTo`. */
export interface Range {
  readonly topic: number;
  readonly after: number;
  readonly upTo: number;
}

const byTopic = 'messages m INDEXED BY messages_by_topic';

/** The statements of searches. Each takes at most some milliseconds. */
export class SearchStatements {
  readonly #db: DatabaseSync;
  readonly #statement: ReturnType<typeof statementCache>;
  readonly #search: { needle: string };
  readonly #offsetAtTime: ReturnType<typeof offsetAtTimeIn>;
  readonly #messagesAt: StatementSync;
  /** Cached topic lists with their stamps. */
  readonly #topicCache = new WeakMap<
    readonly string[],
    { readonly stamp: number; readonly topics: readonly TopicRow[] }
  >();

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#statement = statementCache(db);
    this.#search = addFoldedSearch(db);
    this.#offsetAtTime = offsetAtTimeIn(db);
    this.#messagesAt = prepareArrays(
      db,
      `
      SELECT ${messageColumns}, t.topic_id FROM messages m JOIN topic_stats t ON t.topic = m.topic
      WHERE m.offset IN (SELECT value FROM json_each(?)) AND (? OR m.deleted_at IS NULL) ORDER BY m.offset DESC`,
    );
  }

  /** Changes after every commit of another connection. */
  dataVersion(): number {
    return this.#rows<[number]>('PRAGMA data_version', [])[0]![0];
  }

  /**
   * Returns the non-empty topics, highest offset first. Cached per list (the same array) until the next commit, because
   * reading and sorting a thousand takes half the time of a page.
   */
  topics(topicIds: readonly string[]): readonly TopicRow[] {
    const stamp = this.dataVersion(); // taken before the read, so that later commits invalidate it
    const cached = this.#topicCache.get(topicIds);
    if (cached?.stamp === stamp) return cached.topics;
    const topics = this.#topicRows(new Set(topicIds))
      .map(([topic, count, lastOffset]) => ({ topic, count, lastOffset }))
      .sort((a, b) => b.lastOffset - a.lastOffset);
    if (topicIds.length > 1) this.#topicCache.set(topicIds, { stamp, topics });
    return topics;
  }

  /** Reads all topics if a large share of them is requested: that takes half the time of looking up each (measured). */
  #topicRows(requestedIds: ReadonlySet<string>): readonly StatsRow[] {
    const columns = 's.topic, s.message_count, s.last_offset, s.topic_id';
    const [[all]] = this.#rows<[number]>('SELECT count(*) FROM topic_stats', []) as [[number]];
    if (requestedIds.size * 2 >= all)
      return this.#rows<StatsRow>(`SELECT ${columns} FROM topic_stats s`, []).filter(([, , , topicId]) =>
        requestedIds.has(topicId),
      );
    return this.#rows<StatsRow>(
      `SELECT ${columns} FROM json_each(?) asked CROSS JOIN topic_stats s ON s.topic_id = asked.value`,
      [JSON.stringify([...requestedIds])],
    );
  }

  /** Returns the topics and their visible messages by the stored counts; null if too many of them have expired. */
  counted(topicIds: readonly string[], now: number): { topics: readonly TopicRow[]; known: number | null } {
    this.#db.exec('BEGIN'); // reads all of them in one snapshot
    try {
      const topics = this.topics(topicIds);
      const expired = this.#countExpired(topics, now);
      return { topics, known: expired === null ? null : topics.reduce((sum, { count }) => sum + count, 0) - expired };
    } finally {
      this.#db.exec('ROLLBACK');
    }
  }

  /** Returns the number of messages that are counted but expired; null for more than `expiredMax`. */
  #countExpired(topics: readonly TopicRow[], now: number): number | null {
    const isAny =
      this.#rows('SELECT 1 FROM messages m INDEXED BY messages_by_expiry WHERE m.expires_at <= ? LIMIT 1', [now])
        .length > 0;
    if (!isAny) return 0;
    const [[expired]] = this.#rows<[number]>(
      `
      SELECT count(*) FROM (
        SELECT 1 FROM messages m INDEXED BY messages_by_expiry
        WHERE m.expires_at <= ? AND m.topic IN (SELECT value FROM json_each(?)) AND m.offset >= 0 AND m.deleted_at IS NULL LIMIT ?)`,
      [now, JSON.stringify(topics.map(({ topic }) => topic)), expiredMax],
    ) as [[number]];
    return expired < expiredMax ? expired : null;
  }

  /** Whether these are all non-empty topics. */
  areAll(topics: readonly TopicRow[]): boolean {
    return topics.length === this.#rows<[number]>('SELECT count(*) FROM topic_stats', [])[0]![0];
  }

  /** Returns offsets of visible messages of any topic below the given one, with their topics, highest first. */
  newestBelow(before: number, now: number, { limit, offset }: MessagePage): [number, number][] {
    return this.#rows<[number, number]>(
      `SELECT m.offset, m.topic FROM messages m NOT INDEXED
       WHERE m.offset >= 0 AND m.offset < ? AND m.expires_at > ? AND m.deleted_at IS NULL ORDER BY m.offset DESC LIMIT ? OFFSET ?`,
      [before, now, limit, offset],
    );
  }

  /** Like `newestBelow`, for these topics only and above an offset. */
  newestOf(topics: readonly TopicRow[], now: number, { after, limit }: { after: number; limit: number }): number[] {
    return this.#rows<[number]>(
      `SELECT m.offset FROM json_each(?) asked CROSS JOIN ${byTopic} WHERE m.topic = asked.value AND m.offset > ? AND m.expires_at > ? AND m.deleted_at IS NULL
       ORDER BY m.offset DESC LIMIT ?`,
      [JSON.stringify(topics.map(({ topic }) => topic)), after, now, limit],
    ).map(([offset]) => offset);
  }

  /** Returns the part of the topic that can contain the filter's time range. */
  narrow(topic: number, { from, to }: MessageFilter, lastOffset: number): Range {
    const first = from === null ? 0 : this.#offsetAtTime(topic, from);
    const end = to === null ? null : this.#offsetAtTime(topic, to + clockSkewMs + 1);
    return { topic, after: (first ?? lastOffset + 1) - 1, upTo: end === null ? lastOffset : end - 1 };
  }

  matching(range: Range, condition: Condition, needle: string): number[] {
    this.#search.needle = needle;
    const { sql, params } = inRange(range, condition);
    return this.#rows<[number]>(`SELECT m.offset FROM ${byTopic} WHERE ${sql}`, params).map(([offset]) => offset);
  }

  /** Returns a page of matching offsets, highest first. */
  newestIn(range: Range, condition: Condition, page: MessagePage): number[] {
    return this.#pageIn(range, condition, { ...page, order: 'DESC' });
  }

  /** Like `newestIn`, lowest first. */
  oldestIn(range: Range, condition: Condition, page: MessagePage): number[] {
    return this.#pageIn(range, condition, { ...page, order: 'ASC' });
  }

  #pageIn(
    range: Range,
    condition: Condition,
    { order, limit, offset }: MessagePage & { order: 'ASC' | 'DESC' },
  ): number[] {
    const { sql, params } = inRange(range, condition);
    return this.#rows<[number]>(
      `SELECT m.offset FROM ${byTopic} WHERE ${sql} ORDER BY m.offset ${order} LIMIT ? OFFSET ?`,
      [...params, limit, offset],
    ).map(([offset]) => offset);
  }

  countIn(range: Range, condition: Condition): number {
    const { sql, params } = inRange(range, condition);
    return this.#rows<[number]>(`SELECT count(*) FROM ${byTopic} WHERE ${sql}`, params)[0]![0];
  }

  /** Returns start, priority and count of each non-empty bucket. */
  bucketsIn(range: Range, by: { condition: Condition; needle: string; bucketMs: number }): [number, number, number][] {
    this.#search.needle = by.needle;
    const { sql, params } = inRange(range, by.condition);
    return this.#rows<[number, number, number]>(
      `SELECT m.timestamp - m.timestamp % ? AS start, m.priority, count(*) FROM ${byTopic} WHERE ${sql} GROUP BY 1, 2`,
      [by.bucketMs, ...params],
    );
  }

  /**
   * Returns the message rows at the offsets, highest first, without messages that were deleted or removed concurrently.
   */
  messages({ includesDeleted }: Pick<MessageFilter, 'includesDeleted'>, offsets: readonly number[]): TopicMessageRow[] {
    if (offsets.length === 0) return [];
    return this.#messagesAt.all(JSON.stringify(offsets), includesDeleted ? 1 : 0) as unknown as TopicMessageRow[];
  }

  #rows<R extends unknown[]>(sql: string, params: readonly SQLInputValue[]): R[] {
    return this.#statement(sql).all(...params) as unknown as R[];
  }
}

function inRange({ topic, after, upTo }: Range, condition: Condition): Condition {
  return {
    sql: `m.topic = ? AND m.offset > ? AND m.offset <= ? AND ${condition.sql}`,
    params: [topic, Math.max(after, -1), upTo, ...condition.params],
  };
}
