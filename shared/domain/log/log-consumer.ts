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
  /** When the consumer was created or last moved back, if it moved forward since; null means `updatedAt`. */
  readonly placedAt: number | null;
  /** Unread records that have expired since the offset was set, counted up to `lostUpTo`; null means 0. */
  readonly lost: number | null;
  /** `lost` includes the records that expired at or before this time; null means none since `updatedAt`. */
  readonly lostUpTo: number | null;
  /** The hash of the secret of the last lease that was not given back. */
  readonly leaseHash: string | null;
  readonly leaseUntil: number | null;
}

/** The state of a consumer whose offset has just been set: nothing is lost. */
export const nothingLost = { lost: null, lostUpTo: null } as const;

export const noLease = { leaseHash: null, leaseUntil: null } as const;

/** The time since which lost records are not counted yet. */
export const lostSince = ({ updatedAt, lostUpTo }: Pick<LogConsumer, 'updatedAt' | 'lostUpTo'>): number =>
  lostUpTo ?? updatedAt;
