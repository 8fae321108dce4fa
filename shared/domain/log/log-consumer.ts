/** A named offset in a topic's log, stored for a reader between its runs. Times are milliseconds since the epoch. */
export interface LogConsumer {
  readonly id: string;
  readonly version: number;
  readonly topicId: string;
  /** The account or topic token that created the consumer and is the only one to see it. */
  readonly ownerId: string;
  /** The name as first written. */
  readonly name: string;
  /** The name in lower case; unique per owner and topic. */
  readonly nameKey: string;
  /** The offset to read next. */
  readonly offset: number;
  readonly updatedAt: number;
}
