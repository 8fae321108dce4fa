import type { RecordType } from '../../domain/messages/log-record.ts';
import type { StoredMessage } from '../../domain/messages/message.ts';

/** The maximum clock skew of publishing nodes, in milliseconds. */
export const clockSkewMs = 10_000;

/** Reads messages and records by ID, offset and time. */
export interface MessageReads {
  /** Returns the message, even if deleted or expired, or null. */
  find(messageId: string): Promise<StoredMessage | null>;

  /** Returns the existing messages, including deleted and expired ones, in any order; at most 1,000 IDs. */
  findMany(messageIds: readonly string[]): Promise<StoredMessage[]>;

  /** Returns the newest `limit` messages of the topic, oldest first. */
  newest(topicId: string, page: { limit: number; now: number }): Promise<StoredMessage[]>;

  /** Returns the newest message of each non-empty topic; at most 1,000 topics. */
  newestOfEach(topicIds: readonly string[], now: number): Promise<Map<string, StoredMessage>>;

  /** Returns the first `limit` messages with `after < offset <= upTo`, oldest first. */
  after(topicId: string, page: { after: number; upTo: number; limit: number; now: number }): Promise<StoredMessage[]>;

  /**
   * Returns at most `limit` records of the topic (messages, edits, deletions) with `from <= offset <= upTo`, in offset
   * order, each with the current state of its message (redacted if deleted), without records of expired messages.
   */
  records(topicId: string, page: { from: number; upTo: number; limit: number; now: number }): Promise<TopicRecord[]>;

  /**
   * Returns the highest offset with `from <= offset < before` of a record of the topic that was removed or whose
   * message has expired, or null. Of the removed records below the topic's first stored one, only the highest is known.
   */
  lastLost(topicId: string, range: { from: number; before: number; now: number }): Promise<number | null>;

  /**
   * Counts the first `max` stored messages and the first `max` stored changes of the topic from the offset: those that
   * can be read, and those whose message expired after `since`.
   */
  countRecords(topicId: string, of: RecordCountRequest): Promise<RecordCounts>;

  /**
   * Returns the lowest offset of a record of the topic made at or after the time, or null. Exact if the clock skew of
   * publishing nodes is below `clockSkewMs`.
   */
  offsetAtTime(topicId: string, time: number): Promise<number | null>;

  /**
   * Returns the offset of each topic's last record, even of removed messages and duplicates; -1 for an empty topic.
   * Every ID has an entry; at most 1,000 topics.
   */
  lastOffsets(topicIds: readonly string[]): Promise<Map<string, number>>;

  /**
   * Returns the number of messages in history (without deleted ones) and the time of the last publish. Every ID has an
   * entry.
   */
  topicStats(topicIds: readonly string[]): Promise<Map<string, TopicStats>>;

  /**
   * Returns the number of messages in history after each mark, in the order of the marks. Stops counting at `max` (at
   * most 10,000).
   */
  countAfter(marks: readonly TopicMark[], page: { max: number; now: number }): Promise<number[]>;

  /**
   * Returns the times of the messages in history after each mark, newest first, in the order of the marks, which are of
   * different topics. At most the `max` (up to 1,000) newest messages of a topic are considered.
   */
  timesAfter(marks: readonly TopicMark[], page: { max: number; now: number }): Promise<number[][]>;
}

export interface RecordCountRequest {
  readonly from: number;
  readonly max: number;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly now: number;
}

export interface RecordCounts {
  readonly readable: number;
  readonly expired: number;
  /** False if the limit was reached, so that there may be more. */
  readonly isComplete: boolean;
}

export interface TopicRecord {
  readonly offset: number;
  readonly type: RecordType;
  /** The time of the record. */
  readonly timestamp: number;
  readonly message: StoredMessage;
}

/** A time in a topic's history. */
export interface TopicMark {
  readonly topicId: string;
  /** Milliseconds since the epoch. */
  readonly after: number;
}

export interface TopicStats {
  readonly messageCount: number;
  /** Milliseconds since the epoch, including removed messages; null before the first publish. */
  readonly lastMessageAt: number | null;
}
