import type { MessageFilter } from '../../domain/messages/message-filter.ts';
import type { Priority, StoredMessage } from '../../domain/messages/message.ts';

/** Searches messages across topics. Long searches do not block other calls. */
export interface MessageSearch {
  /**
   * Returns a page of the matching messages, newest first, and their total number. Messages of one topic are in reverse
   * history order; messages of several topics are in time order, accurate to the clock skew of publishing nodes.
   * Deleted messages have the form of `asManagersSee`. After `searchMsMax`, throws AppError `unavailable`.
   */
  search(filter: MessageFilter, page: MessagePage): Promise<FoundMessages>;

  /**
   * Returns the newest `limit` messages in the history of the topics, in the order of `search`. Throws like `search`.
   */
  recent(topicIds: readonly string[], page: { limit: number; now: number }): Promise<StoredMessage[]>;

  /**
   * Returns the number of matching messages per priority and time bucket of `bucketMs` (aligned to the epoch, in UTC),
   * in any order, without empty buckets. Throws like `search`.
   */
  activity(filter: MessageFilter, bucketMs: number): Promise<ActivityCount[]>;
}

/** `offset` is the number of messages to skip. */
export interface MessagePage {
  readonly limit: number;
  readonly offset: number;
}

export interface FoundMessages {
  readonly messages: readonly StoredMessage[];
  /** The exact number of messages on all pages. */
  readonly total: number;
}

export interface ActivityCount {
  /** The start of the bucket, in milliseconds since the epoch. */
  readonly start: number;
  readonly priority: Priority;
  readonly count: number;
}
