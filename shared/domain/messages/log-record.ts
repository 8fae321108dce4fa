import type { Message } from './message.ts';
import type { TraceContext } from '../trace-context.ts';

export type RecordType = 'message' | 'message_edited' | 'message_deleted';

/**
 * A record of the event log. An edit or deletion has its own record with the whole message after the change, so that a
 * record can be applied without the earlier ones.
 */
export interface LogRecord {
  readonly type: RecordType;
  /** Time of the publish, edit or deletion in milliseconds since the epoch; of a publish, the message's timestamp. */
  readonly timestamp: number;
  readonly message: Message;
  /** The trace context of the request. Not all logs keep it: see the port. */
  readonly trace?: TraceContext;
  /** The API node that waits until the message is stored. Logs of one process do not keep it. */
  readonly waitingNode?: string;
}

/** A record with its offset. Offsets of a partition increase, with gaps. */
export interface PlacedRecord {
  readonly partition: number;
  readonly offset: number;
  readonly record: LogRecord;
}
