import type { Message } from './message.ts';
import type { TraceContext } from '../trace-context.ts';

export type RecordType = 'message' | 'message_edited' | 'message_deleted';

/**
 * What the event log carries. An edit or a deletion is a record of its own and holds the whole message as it
 * stands after it, so that a record can be applied without the ones before it.
 */
export interface LogRecord {
  readonly type: RecordType;
  /** When the record was made (publish, edit or deletion), milliseconds since the epoch; a message's is its own timestamp. */
  readonly timestamp: number;
  readonly message: Message;
  /** What made it, where that is traced. Not all logs keep it for long: see the port. */
  readonly trace?: TraceContext;
}

/** A record with its place in the log. Positions of a partition only grow, and have holes. */
export interface PlacedRecord {
  readonly partition: number;
  readonly offset: number;
  readonly record: LogRecord;
}
