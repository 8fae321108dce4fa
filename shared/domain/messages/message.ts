/** 1 (least) to 5 (most urgent); 3 is the default. */
export type Priority = 1 | 2 | 3 | 4 | 5;

/**
 * A message as it is published: without the topic's name (a topic can be renamed) and without its position
 * (which the event log gives it). Times are milliseconds since the epoch.
 */
export interface Message {
  /** UUIDv7, so that ids sort by time. */
  readonly id: string;
  readonly topicId: string;
  /** 1–4,000 code points, exactly as sent; empty once deleted. */
  readonly message: string;
  readonly title: string | null;
  readonly priority: Priority;
  readonly tags: readonly string[];
  readonly timestamp: number;
  readonly expiresAt: number;
  readonly markdown: boolean;
  readonly isDeleted: boolean;
  readonly isEdited: boolean;
  readonly deletedAt: number | null;
  readonly editedAt: number | null;
}

/** A message with the position of its `message` record in the topic's partition. It never changes. */
export interface StoredMessage extends Message {
  readonly offset: number;
}

export const messageLimits = {
  textCodePoints: 4_000,
  titleCodePoints: 250,
  tags: 20,
  tagCodePoints: 64,
} as const;

/** What a deleted message looks like to everyone: the shell stays, the content goes. */
export function emptied<M extends Message>(message: M, deletedAt: number): M {
  return { ...message, message: '', title: null, tags: [], isDeleted: true, deletedAt };
}
