import { z } from 'zod';
import { recordTypes, type RecordType } from '../domain/messages/log-record.ts';
import type { StoredMessage } from '../domain/messages/message.ts';
import { toIso } from '../domain/to-iso.ts';
import { messageSchema, toMessageJson, type MessageView } from './message.ts';

/** A record of a topic's log. */
export const topicRecordSchema = z.object({
  offset: z.int(),
  type: z.enum(recordTypes),
  timestamp: z.iso.datetime(),
  message: messageSchema,
});

/** Returns the record with its message as the reader sees it. */
export function toTopicRecordJson(
  record: {
    readonly offset: number;
    readonly type: RecordType;
    readonly timestamp: number;
    readonly message: StoredMessage;
  },
  topicName: string,
  view: MessageView,
) {
  return {
    offset: record.offset,
    type: record.type,
    timestamp: toIso(record.timestamp),
    message: toMessageJson(record.message, topicName, view),
  };
}
