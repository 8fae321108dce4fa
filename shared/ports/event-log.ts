import type { LogRecord, PlacedRecord } from '../domain/messages/log-record.ts';

/**
 * The event log: the one source of truth. A message exists from the moment its record is appended.
 *
 * Guarantees: an append that resolved is durable and ordered within its partition; consumption is at least once
 * per group and in order per partition; positions of a partition only grow, also over an import or a new log.
 */
export interface EventLog {
  /** How many partitions there are; a topic is given one of them at creation and keeps it. */
  readonly partitions: number;

  /**
   * Appends a record and resolves with its position once it is durable.
   * `topicName` is told to those who read the log directly; our own readers show the name that is current.
   * Concurrent appends share batches; appends of one caller to one partition keep their order.
   * A record's `trace` comes with it to those who follow the log's end; who reads further back may get the record without it.
   * Throws AppError `unavailable`: the outcome is then unknown, the record may still turn up in the log. Fails within
   * a second while the log is known to be down, within the send's deadline otherwise, and at once when more is
   * waiting than fits into memory.
   */
  append(partition: number, record: LogRecord, topicName: string): Promise<number>;

  /**
   * Starts a member of a consumer group; partitions are spread over the group's members.
   * Resolves once the member has joined; it goes on by itself over broker outages until closed.
   */
  consume(options: ConsumeOptions): Promise<Consumption>;

  /** Position one past the last record of the partition. Throws `unavailable`. */
  end(partition: number): Promise<number>;

  /**
   * How many positions of all partitions the group has not committed yet: an upper bound of the records that are left to
   * it, 0 when there are none. Throws `unavailable`.
   */
  lag(group: string): Promise<number>;

  /** Resolves when the log answers, within two seconds; throws otherwise. For readiness. */
  ping(): Promise<void>;

  close(): Promise<void>;
}

export interface ConsumeOptions {
  readonly group: string;
  /**
   * Where a member that takes the partition goes on: the position of the next record to handle, or null to go on
   * from the group's committed position, which is the start of the log for a new group.
   */
  readonly startAt?: (partition: number) => Promise<number | null>;
  /**
   * Handles a batch, at most one at a time per partition. The group's position is committed after it resolves;
   * when it rejects, the same records come again after a pause (100 ms doubling to 5 s), for as long as it takes.
   */
  readonly onBatch: (batch: RecordBatch) => Promise<void>;
  /** At most this many records at once. Default 1,000. */
  readonly batchSizeMax?: number;
}

export interface RecordBatch {
  readonly partition: number;
  /** In order of position, never empty. A record that cannot be read is left out and logged. */
  readonly records: readonly PlacedRecord[];
  /** Position one past the last record of the batch. */
  readonly nextOffset: number;
  /** Aborted when the member lost the partition or is closing: what is not done yet is another member's. */
  readonly signal: AbortSignal;
}

export interface Consumption {
  /** Finishes the batch under way, commits, and leaves the group. */
  close(): Promise<void>;
}
