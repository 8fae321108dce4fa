/** A group of failed pushes of one message that are no longer retried. */
export interface DeadLetter {
  /** ID of the failed job. */
  readonly id: string;
  readonly messageId: string;
  readonly topicId: string;
  /** Null if the topic was removed. */
  readonly topic: string | null;
  /**
   * The number of target devices at that time; null if they were not yet known. Some may have received the push since.
   */
  readonly devices: number | null;
  readonly reason: string;
  readonly failedAt: number;
}
