/** A named position in a topic's log, kept for a reader between its runs. Times are milliseconds since the epoch. */
export interface LogConsumer {
  readonly id: string;
  readonly version: number;
  readonly topicId: string;
  /** The account or the topic token that made it, and that alone sees it. */
  readonly ownerId: string;
  /** As written when it was made. */
  readonly name: string;
  /** The name in lower case: unique among the owner's on the topic. */
  readonly nameKey: string;
  /** The position to read from next. */
  readonly offset: number;
  readonly updatedAt: number;
}
