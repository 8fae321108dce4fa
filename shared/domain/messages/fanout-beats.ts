/** The pub/sub channel of the fan-out's beats. */
export const beatsChannel = 'fanout-beats';

/** How often a fan-out sends the beats of its partitions. */
export const beatIntervalMs = 500;

/**
 * Reports that the fan-out of a partition reaches the bus. A payload contains the beats of all partitions of a process.
 * Beats and records use one connection, so a node that receives beats has received the records before them, unless
 * `missed` changed.
 */
export interface Beat {
  readonly partition: number;
  /** The last offset that the fan-out delivered or found delivered. */
  readonly offset: number;
  /** Identifies the assignment of the partition to a process. */
  readonly assignment: string;
  /** The last offset that this process possibly did not publish: before its assignment, or because of the bus. */
  readonly missed: number;
}
