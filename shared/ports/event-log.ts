import type { LogRecord, PlacedRecord } from '../domain/messages/log-record.ts';

/**
 * The event log, the source of truth. A message exists once its record is appended.
 *
 * Guarantees: a resolved append is durable and ordered within its partition; consumption is at least once
 * per group and in order per partition; offsets of a partition increase, even over an import or a new log.
 */
export interface EventLog {
  /** The number of partitions for new topics. It can grow; a topic keeps the partition of its creation. */
  readonly partitions: number;

  /**
   * Appends a record and resolves with its offset once it is durable. `topicName` is for external readers of the log;
   * Tocsin's own readers show the current name. Concurrent appends share batches; appends of one caller to one
   * partition keep their order. Consumers at the head receive the record's `trace`; older records may lack it. Throws
   * AppError `unavailable`: the outcome is then unknown, and the record may still appear in the log. Fails within a
   * second during a known outage, within the send's deadline otherwise, and immediately if the queue is full.
   */
  append(partition: number, record: LogRecord, topicName: string): Promise<number>;

  /**
   * Starts a member of a consumer group; partitions are distributed over the group's members.
   * Resolves once the member has joined. It recovers from broker outages until it is closed.
   */
  consume(options: ConsumeOptions): Promise<Consumption>;

  /** Returns the offset after the last record of the partition. Throws `unavailable`. */
  end(partition: number): Promise<number>;

  /**
   * Returns the number of uncommitted offsets of the group over all partitions: an upper bound of the remaining
   * records, 0 if no record remains. Leaves out partitions whose broker is lost. Throws `unavailable`.
   */
  lag(group: string): Promise<number>;

  /** Returns what this process could not read for the group since it started. */
  unread(group: string): UnreadRecords;

  /** Returns how many members of the group did not respond, so that this process removed them, since it started. */
  removedMembers(group: string): number;

  /**
   * Resolves if the log responds within two seconds and accepts records on a partition at least; throws otherwise, and
   * if it lost records that this process published or handled. For readiness.
   */
  ping(): Promise<LogHealth>;

  close(): Promise<void>;
}

export interface LogHealth {
  /** Partitions that accept no records at present, because their broker is lost. */
  readonly unavailablePartitions: number;
}

/** Records that a group could not read. */
export interface UnreadRecords {
  /** Partitions that are not read, because the log ends before the records that the group handled. */
  readonly haltedPartitions: number;
  /** Records that the log removed before the group read them. */
  readonly lost: number;
}

export interface ConsumeOptions {
  readonly group: string;
  /**
   * Returns where a member starts on an assigned partition: the offset of the next record, or null to start at the
   * group's committed offset, which is the start of the log for a new group. The signal is aborted when the member
   * loses the partition or closes.
   */
  readonly startAt?: (partition: number, signal: AbortSignal) => Promise<number | null>;
  /**
   * Handles a batch, at most one at a time per partition. The group's offset is committed after it resolves.
   * If it rejects, the same records are retried after a pause (100 ms doubling to 5 s) until it resolves.
   */
  readonly onBatch: (batch: RecordBatch) => Promise<void>;
  /** The maximum number of records per batch. Default 1,000. */
  readonly batchSizeMax?: number;
  /**
   * After records arrived, collects later ones for a time, so that frequent records form fewer batches. Default: not at
   * all.
   */
  readonly collect?: CollectTimes;
}

/** How long records are collected: `baseMs`, and `perRecordMs` for each that arrived before, at most `maxMs`. */
export interface CollectTimes {
  readonly baseMs: number;
  readonly perRecordMs: number;
  readonly maxMs: number;
  /**
   * Ends the time early, when about as many bytes have arrived as in the largest recent fetch. Publishers that wait for
   * an acknowledgement before they publish again are then in one batch without a longer wait. Only Kafka's log does it.
   */
  readonly endsAtPeak?: boolean;
}

export interface RecordBatch {
  readonly partition: number;
  /** In offset order, never empty. Unreadable records are skipped and logged. */
  readonly records: readonly PlacedRecord[];
  /** The offset after the last record of the batch. */
  readonly nextOffset: number;
  /** Aborted when the member loses the partition or closes; another member handles the rest. */
  readonly signal: AbortSignal;
}

export interface Consumption {
  /** Completes the running batch, commits, and leaves the group. */
  close(): Promise<void>;
}
