import { emptied, type StoredMessage } from './message.ts';

/** Which messages of some topics are meant. Expired ones never are. */
export interface MessageFilter {
  readonly topicIds: readonly string[];
  /** Is in the title or in the text, whatever the case (`foldCase`); null: any message. Not empty. */
  readonly text: string | null;
  readonly priorityMin: number | null;
  readonly priorityMax: number | null;
  /** The message has one of them, exactly; empty: any message. None holds a comma. */
  readonly tags: readonly string[];
  /** Bounds of the timestamp, inclusive, in milliseconds since the epoch. */
  readonly from: number | null;
  readonly to: number | null;
  /** Deleted messages, too. They have their content for `deletedContentMs`, and nothing to be found by after that. */
  readonly includesDeleted: boolean;
  readonly now: number;
}

export const filterLimits = { textCodePoints: 200, tags: 20 } as const;

/** How long the content of a deleted message can be seen by whoever manages its topic, in milliseconds. */
export const deletedContentMs = 30 * 86_400_000;

/** The message as whoever manages its topic sees it: a deleted one with its content for some time. */
export function asManagersSee<M extends StoredMessage>(message: M, now: number): M {
  return message.deletedAt === null || message.deletedAt > now - deletedContentMs
    ? message
    : emptied(message, message.deletedAt);
}
