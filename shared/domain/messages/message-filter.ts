import { redacted, type StoredMessage } from './message.ts';

/** Selects messages of some topics. Expired messages never match. */
export interface MessageFilter {
  readonly topicIds: readonly string[];
  /**
   * Text that the title or the message contains, case-insensitive (`foldCase`). Not empty; null matches any message.
   */
  readonly text: string | null;
  readonly priorityMin: number | null;
  readonly priorityMax: number | null;
  /** Matches messages with at least one of these exact tags; empty matches any. No tag contains a comma. */
  readonly tags: readonly string[];
  /** Inclusive bounds of the timestamp, in milliseconds since the epoch. */
  readonly from: number | null;
  readonly to: number | null;
  /** Includes deleted messages. They can be found by content for `deletedContentMs`. */
  readonly includesDeleted: boolean;
  readonly now: number;
}

/** Returns a filter that matches every message of the topics that is not deleted, apart from the given conditions. */
export const allMessagesOf = (
  topicIds: readonly string[],
  given: Pick<MessageFilter, 'now'> & Partial<MessageFilter>,
): MessageFilter => ({
  topicIds,
  text: null,
  priorityMin: null,
  priorityMax: null,
  tags: [],
  from: null,
  to: null,
  includesDeleted: false,
  ...given,
});

/** Whether the filter matches every message of its topics that is not deleted, so that stored counts can be used. */
export const matchesAllMessages = ({ text, tags, includesDeleted, ...filter }: MessageFilter): boolean =>
  !includesDeleted &&
  text === null &&
  tags.length === 0 &&
  [filter.priorityMin, filter.priorityMax, filter.from, filter.to].every((bound) => bound === null);

export const filterLimits = { textCodePoints: 200, tags: 20 } as const;

/** How long managers of a topic can see the content of a deleted message, in milliseconds. */
export const deletedContentMs = 30 * 86_400_000;

/** Returns the message as managers of its topic see it: with its content for `deletedContentMs` after a deletion. */
export function asManagersSee<M extends StoredMessage>(message: M, now: number): M {
  return message.deletedAt === null || message.deletedAt > now - deletedContentMs
    ? message
    : redacted(message, message.deletedAt);
}
