import type { LogRecord } from './log-record.ts';
import type { Acknowledgement } from './message-extras.ts';
import { redacted, type Message, type StoredMessage } from './message.ts';

type EditableField =
  'message' | 'title' | 'priority' | 'tags' | 'markdown' | 'click' | 'actions' | 'iconUrl' | 'isSilent' | 'requiresAck';

/** The fields that an edit can replace; absent fields keep their values. An acknowledgement always stays. */
export type MessageEdit = { readonly [F in EditableField]?: Message[F] | undefined };

/** Returns the record of an edit of the current message. */
export function editRecord(message: StoredMessage, edit: MessageEdit, now: number): LogRecord {
  const after: Message = {
    ...withoutOffset(message),
    ...(Object.fromEntries(Object.entries(edit).filter(([, value]) => value !== undefined)) as Partial<Message>),
    isEdited: true,
    editedAt: now,
  };
  return { type: 'message_edited', timestamp: now, message: after };
}

/** Returns the record of a deletion, without content, so that deleted content is not sent again. */
export function deletionRecord(message: StoredMessage, now: number): LogRecord {
  return { type: 'message_deleted', timestamp: now, message: redacted(withoutOffset(message), now) };
}

/** Returns the record of an acknowledgement, or of its withdrawal. */
export function acknowledgementRecord(
  message: StoredMessage,
  acknowledgement: Acknowledgement | null,
  now: number,
): LogRecord {
  const type = acknowledgement === null ? 'message_unacknowledged' : 'message_acknowledged';
  return { type, timestamp: now, message: { ...withoutOffset(message), acknowledgement } };
}

/** The log assigns an offset to each record. */
function withoutOffset({ offset: _, ...message }: StoredMessage): Message {
  return message;
}
