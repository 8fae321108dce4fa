import type { MessageVolume } from '../../domain/messages/message-volume.ts';
import type { StoredMessage } from '../../domain/messages/message.ts';

/**
 * Expires, redacts and removes messages. Queries over all topics do not block other calls; after `planMsMax` they throw
 * AppError `unavailable`.
 */
export interface MessageRetention {
  /**
   * Returns, per topic, the messages that expired at or before the time and are not yet removed, in any order, without
   * topics in `except`. Takes some seconds per million messages.
   */
  expired(time: number, except?: readonly string[]): Promise<ExpiredOfTopic[]>;

  /** Counts the messages that `removeExpired` could remove, up to `max`. Throws like `expired`. */
  countExpired(time: number, of: { max: number; except?: readonly string[] }): Promise<number>;

  /**
   * Returns, per topic, the publish time of the oldest message in history that expires after the time, accurate to the
   * clock skew of publishing nodes. Topics without such a message have no entry. At most 1,000 topics. Throws like
   * `expired`.
   */
  oldestKept(topicIds: readonly string[], time: number): Promise<Map<string, number>>;

  /**
   * Removes at most `limit` messages that expired at or before the time, with their records, oldest first, without
   * topics in `except` (those under legal hold; few). Keeps counts correct. Resolves with the removed volume per topic;
   * empty when none is left.
   */
  removeExpired(time: number, limit: number, except?: readonly string[]): Promise<Map<string, MessageVolume>>;

  /**
   * Returns the first `limit` messages of the topic after the offset that expired at or before the time, by offset,
   * with their text even if deleted. Does not block other calls.
   */
  expiredOf(topicId: string, page: { after: number; time: number; limit: number }): Promise<ExpiredMessage[]>;

  /**
   * Removes those of the topic's messages that are in the given state, like `removeExpired`, and edits and deletions
   * that expired at or before the time without their message, of which no reader knows. Resolves with the removed
   * volume.
   */
  removeInState(topicId: string, of: { time: number; states: readonly MessageState[] }): Promise<MessageVolume>;

  /**
   * Returns the first `limit` messages of the topic after the offset that expired at or before the time or are deleted,
   * by offset, with their text: what a legal hold keeps. Does not block other calls.
   */
  held(topicId: string, page: { after: number; time: number; limit: number }): Promise<StoredMessage[]>;

  /** Removes up to `limit` messages of a removed topic; resolves with their number, 0 when none is left. */
  removeTopic(topicId: string, limit: number): Promise<number>;

  /**
   * Permanently removes text, title and tags of at most `limit` messages that were deleted at or before the time,
   * without topics in `except`. Resolves with their number, 0 when none is left.
   */
  redactDeleted(time: number, limit: number, except?: readonly string[]): Promise<number>;

  /**
   * Removes the account's name and ID from the messages that it published or acknowledged. Reads all messages, which
   * takes some seconds per million, without blocking other calls. Idempotent.
   */
  forgetAccount(accountId: string): Promise<void>;

  /**
   * Sets the expiry of the topic's messages to `lifetimeMs` after their timestamp; with `onlyLonger`, only extends it.
   * Reads the first `limit` messages after the offset `after`; messages that expired by `now` stay expired. Resolves
   * with the offset of the last message read, or null when none is left. Idempotent.
   */
  changeLifetime(topicId: string, of: LifetimeChange): Promise<number | null>;

  /**
   * Recounts the topic's messages and corrects the stored count; safe during writes. Resolves with the amount added to
   * the count: 0 unless the store was damaged or modified by another program.
   */
  recount(topicId: string): Promise<number>;
}

/** The state of a message; an edit, acknowledgement, deletion or redaction changes it. */
export interface MessageState {
  readonly id: string;
  readonly offset: number;
  readonly contentRev: number;
  readonly deletedAt: number | null;
}

export interface ExpiredMessage {
  readonly message: StoredMessage;
  readonly state: MessageState;
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
