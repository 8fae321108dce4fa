import type { IHeaders } from 'kafkajs';
import type { LogRecord, RecordType } from '../../../domain/messages/log-record.ts';
import { parseRecordValue, toRecordValue } from '../../../wire/message.ts';
import { parseTraceContext } from '../../../domain/trace-context.ts';
import { isUuid } from '../../../platform/ids.ts';
import { toIso } from '../../../domain/to-iso.ts';

/** A record on the topic. Public interface: CloudEvents 1.0 in binary mode. */
export interface KafkaRecord {
  readonly key: string;
  readonly value: Buffer;
  readonly headers: { readonly [name: string]: string };
}

const eventTypes: { readonly [T in RecordType]: string } = {
  message: 'tocsin.message.published',
  message_edited: 'tocsin.message.edited',
  message_deleted: 'tocsin.message.deleted',
  message_acknowledged: 'tocsin.message.acknowledged',
  message_unacknowledged: 'tocsin.message.unacknowledged',
};
const recordTypes = new Map(Object.entries(eventTypes).map(([type, eventType]) => [eventType, type as RecordType]));

/** Names the API node to which the fan-out reports that the message is stored. */
const waitingNodeHeader = 'tocsin-node';

/**
 * The key is the topic's ID; the value is the public message object without its offset. The trace uses the header names
 * that OpenTelemetry consumers expect.
 */
export function encodeKafkaRecord(record: LogRecord, topicName: string): KafkaRecord {
  const time = toIso(record.timestamp);
  const { message, trace, waitingNode } = record;
  return {
    key: message.topicId,
    value: Buffer.from(JSON.stringify(toRecordValue(message, topicName))),
    headers: {
      ce_specversion: '1.0',
      // A change is an event of its own; duplicates of an event have the same ID.
      ce_id: record.type === 'message' ? message.id : `${message.id}/${record.type}/${record.timestamp}`,
      ce_type: eventTypes[record.type],
      ce_source: `/topics/${topicName}`,
      ce_time: time,
      'content-type': 'application/json',
      ...(waitingNode === undefined ? {} : { [waitingNodeHeader]: waitingNode }),
      ...trace,
    },
  };
}

/** Parses a record. Throws for foreign records, because anyone with access to the topic can write to it. */
export function decodeKafkaRecord({ value, headers }: { value: Buffer | null; headers?: IHeaders }): LogRecord {
  const type = recordTypes.get(headerText(headers, 'ce_type'));
  if (type === undefined || value === null) throw new TypeError('not a message event');
  const timestamp = Date.parse(headerText(headers, 'ce_time'));
  if (!Number.isFinite(timestamp)) throw new TypeError('an event without a time');
  const record = parseRecordValue(type, timestamp, JSON.parse(value.toString()));
  if (!isUuid(record.message.id)) throw new TypeError('not a message event: its ID is not a UUID');
  const node = headerText(headers, waitingNodeHeader);
  const placed = isUuid(node) ? { ...record, waitingNode: node } : record;
  if (headers?.['traceparent'] === undefined) return placed;
  const trace = parseTraceContext(headerText(headers, 'traceparent'), headerText(headers, 'tracestate'));
  return trace === undefined ? placed : { ...placed, trace };
}

function headerText(headers: IHeaders | undefined, name: string): string {
  const value = headers?.[name];
  return value === undefined ? '' : String(Array.isArray(value) ? value[0] : value);
}
