/** Pushes of one message that were given up together. */
export interface DeadLetter {
  /** Of the job that gave up. */
  readonly id: string;
  readonly messageId: string;
  readonly topicId: string;
  /** Null once the topic is gone. */
  readonly topic: string | null;
  /** How many devices were to be pushed to then; null where it had not come to that. Some may have been reached since. */
  readonly devices: number | null;
  readonly reason: string;
  readonly failedAt: number;
}
