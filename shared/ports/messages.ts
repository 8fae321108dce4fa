import type { PlacedRecord, RecordType } from '../domain/messages/log-record.ts';
import type { MessageFilter } from '../domain/messages/message-filter.ts';
import type { MessageVolume } from '../domain/messages/message-volume.ts';
import type { Priority, StoredMessage } from '../domain/messages/message.ts';

/** How far the clocks of publishing nodes may differ, in milliseconds. */
export const clockSkewMs = 10_000;

/**
 * The message store: a view of the event log that can be read by topic, time and position.
 *
 * Guarantees: applying a record is idempotent and order-free (any permutation and repetition of records ends in the
 * same state); what `apply` resolved for survives a crash of the process. Reads never show expired messages
 * (`expiresAt <= now`), and show deleted ones only where it says so.
 *
 * A deletion is final, also against an edit that comes after it in the log. A record whose message has expired by the
 * time it comes leaves nothing but the topic's last position and time: a replay brings nothing back that was removed.
 *
 * Positions of a topic are positions of its partition. Above the partition's watermark there can still be holes that
 * fill later: `readHistory` in shared/operations/messages turns that into reads that never step over one.
 */
export interface Messages {
  /**
   * Writes records with their positions, in bulk. A record whose message id is already stored at a lower position is a
   * second copy (a send that was retried) and changes nothing; an edit or deletion older than what is stored neither.
   * Throws AppError `unavailable`.
   */
  apply(records: readonly PlacedRecord[]): Promise<void>;

  /**
   * The fan-out's step for a batch of one partition, in order: writes what `apply` has not written yet, leaves out
   * second copies and what has expired, and resolves with the rest, each with the position of the topic's record
   * before it (null: the first that the store knows of).
   */
  reconcile(partition: number, records: readonly PlacedRecord[]): Promise<ReconciledRecord[]>;

  /** Position up to which, inclusive, everything of the partition is stored; -1 before the first. Only grows. */
  watermark(partition: number): Promise<number>;

  /** Moves the watermark forward; a lower position than the stored one changes nothing. */
  moveWatermark(partition: number, offset: number): Promise<void>;

  /** The message, also a deleted or expired one, or null. */
  find(messageId: string): Promise<StoredMessage | null>;

  /** Those of the messages that exist, also deleted and expired ones, in any order; at most 1,000 ids. */
  findMany(messageIds: readonly string[]): Promise<StoredMessage[]>;

  /** The newest `limit` messages of the topic, oldest first. */
  newest(topicId: string, page: { limit: number; now: number }): Promise<StoredMessage[]>;

  /** The newest message of each topic that has one; at most 1,000 topics. */
  newestOfEach(topicIds: readonly string[], now: number): Promise<Map<string, StoredMessage>>;

  /** The first `limit` messages with `after < offset <= upTo`, oldest first. */
  after(topicId: string, page: { after: number; upTo: number; limit: number; now: number }): Promise<StoredMessage[]>;

  /**
   * The topic's records (messages, edits, deletions) with `from <= offset <= upTo` in order of position, at most `limit`.
   * Each shows its message as it stands now (deleted: emptied). Records of an expired message are left out.
   */
  records(topicId: string, page: { from: number; upTo: number; limit: number; now: number }): Promise<TopicRecord[]>;

  /**
   * The lowest position of a record of the topic made at or after the time, or null. Exact while the clocks of
   * publishing nodes differ by less than `clockSkewMs`.
   */
  offsetAtTime(topicId: string, time: number): Promise<number | null>;

  /**
   * Position of each topic's last record, whatever became of its message, also a second copy's; -1 where there is none.
   * Every id has an entry; at most 1,000 topics.
   */
  lastOffsets(topicIds: readonly string[]): Promise<Map<string, number>>;

  /** Count of what history shows (not the deleted) and time of the last publish, per topic; every id has an entry. */
  topicStats(topicIds: readonly string[]): Promise<Map<string, TopicStats>>;

  /**
   * For each mark how many of the messages that history shows have a later timestamp, in the order of the marks;
   * counting stops at `max`, 10,000 at most.
   */
  countAfter(marks: readonly TopicMark[], page: { max: number; now: number }): Promise<number[]>;

  /**
   * A page of the messages that the filter lets through, newest first, and how many there are in all. Of one topic that is
   * the reverse of history; of several they come by time, as far as the clocks of publishing nodes agree. Deleted messages come as `asManagersSee` shows them. Throws AppError `unavailable` also when it takes longer than
   * `searchMsMax`; whatever it takes, it keeps no other call waiting.
   */
  search(filter: MessageFilter, page: MessagePage): Promise<FoundMessages>;

  /** The newest `limit` messages of the topics that history shows, in the order of `search`. Throws like it. */
  recent(topicIds: readonly string[], page: { limit: number; now: number }): Promise<StoredMessage[]>;

  /**
   * How many messages the filter lets through, by the span of `bucketMs` that their timestamp lies in (counted from the
   * epoch, in UTC) and by priority; in any order, none with 0. Throws like `search`.
   */
  activity(filter: MessageFilter, bucketMs: number): Promise<ActivityCount[]>;

  /**
   * Takes text, title and tags from messages that were deleted at or before the time, for good: at most `limit` messages,
   * none of the topics in `except`. Resolves with how many, 0 when nothing is left.
   */
  redactDeleted(time: number, limit: number, except?: readonly string[]): Promise<number>;

  /**
   * Gives messages of the topic another expiry, so long after their timestamp; with `onlyLonger` those alone that live longer
   * by it. Looks at the first `limit` with a position behind `after`; what has expired by `now` stays expired. Resolves with
   * the position of the last one that it looked at, null when there is none. Running it again changes nothing more.
   */
  changeLifetime(topicId: string, of: LifetimeChange): Promise<number | null>;

  /**
   * What has expired at or before the time and is not removed yet, of every topic that has any but those in `except`, in any
   * order. It costs as much as there is of that (a million messages: some seconds) and a look at each expiry of the others, and
   * keeps no other call waiting. Throws AppError `unavailable` also when it takes longer than `planMsMax`.
   */
  expired(time: number, except?: readonly string[]): Promise<ExpiredOfTopic[]>;

  /** How many messages `removeExpired` could remove; counting stops at `max`. Throws like `expired`. */
  countExpired(time: number, of: { max: number; except?: readonly string[] }): Promise<number>;

  /**
   * When the oldest message of each topic was published that history shows and that expires after the time, as far as the
   * clocks of publishing nodes agree; topics without one have no entry. At most 1,000 topics. Throws like `expired`.
   */
  oldestKept(topicIds: readonly string[], time: number): Promise<Map<string, number>>;

  /**
   * Removes messages that expired at or before the time, with their records: at most `limit` messages, oldest first,
   * none of the topics in `except` (those under legal hold; a few). Counts are right afterwards. Resolves with what
   * went per topic; empty when nothing is left.
   */
  removeExpired(time: number, limit: number, except?: readonly string[]): Promise<Map<string, MessageVolume>>;

  /**
   * Counts the topic's messages anew, and sets its count right, beside writes that go on. Resolves with by how much it was
   * too low: 0, unless a store was damaged or written to by something else.
   */
  recount(topicId: string): Promise<number>;

  /** Removes up to `limit` messages of a topic that is gone; resolves with how many went, 0 when nothing is left. */
  removeTopic(topicId: string, limit: number): Promise<number>;

  /**
   * Gives the system back a little of the room that removed messages took, where the store does not fill it by itself: so little that nobody
   * waits for it. Resolves with how many pages went, 0 when nothing is left to give.
   */
  giveBack(): Promise<number>;

  /** Resolves when the store answers, within two seconds; throws otherwise. */
  ping(): Promise<void>;

  close(): Promise<void>;
}

export interface LifetimeChange {
  readonly lifetimeMs: number;
  readonly onlyLonger: boolean;
  readonly after: number;
  readonly limit: number;
  readonly now: number;
}

export interface ExpiredOfTopic extends MessageVolume {
  readonly topicId: string;
}

export interface ReconciledRecord extends PlacedRecord {
  readonly previousOffset: number | null;
}

export interface TopicRecord {
  readonly offset: number;
  readonly type: RecordType;
  /** When the record was made. */
  readonly timestamp: number;
  readonly message: StoredMessage;
}

/** `offset` is how many messages to pass over. */
export interface MessagePage {
  readonly limit: number;
  readonly offset: number;
}

export interface FoundMessages {
  readonly messages: readonly StoredMessage[];
  /** Exact: how many messages all pages have together. */
  readonly total: number;
}

export interface ActivityCount {
  /** When the bucket starts, milliseconds since the epoch. */
  readonly start: number;
  readonly priority: Priority;
  readonly count: number;
}

/** A time in a topic's history. */
export interface TopicMark {
  readonly topicId: string;
  /** Milliseconds since the epoch. */
  readonly after: number;
}

export interface TopicStats {
  readonly messageCount: number;
  /** Milliseconds since the epoch, whatever became of the message; null before the first publish. */
  readonly lastMessageAt: number | null;
}
