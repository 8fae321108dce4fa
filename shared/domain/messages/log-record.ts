import type { Message } from './message.ts';
import type { TraceContext } from '../trace-context.ts';

export const recordTypes = [
  'message',
  'message_edited',
  'message_deleted',
  'message_acknowledged',
  'message_unacknowledged',
] as const;
export type RecordType = (typeof recordTypes)[number];

export const changeTypes = recordTypes.slice(1) as Exclude<RecordType, 'message'>[];

/**
 * A record of the event log. A change (an edit, a deletion, an acknowledgement or its withdrawal) has its own record
 * with the whole message after the change, so that a record can be applied without the earlier ones.
 */
export interface LogRecord {
  readonly type: RecordType;
  /** Time of the publish or change in milliseconds since the epoch; of a publish, the message's timestamp. */
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
