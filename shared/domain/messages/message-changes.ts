import type { LogRecord } from './log-record.ts';
import { emptied, type Message, type StoredMessage } from './message.ts';

/** What an edit may replace; what is absent stays. */
export interface MessageEdit {
  readonly message?: string | undefined;
  readonly title?: string | null | undefined;
}

/** The record of an edit made now to the message as it stands. */
export function editRecord(message: StoredMessage, edit: MessageEdit, now: number): LogRecord {
  const after: Message = {
    ...withoutOffset(message),
    ...(edit.message === undefined ? {} : { message: edit.message }),
    ...(edit.title === undefined ? {} : { title: edit.title }),
    isEdited: true,
    editedAt: now,
  };
  return { type: 'message_edited', timestamp: now, message: after };
}

/** The record of a deletion made now. It carries no content: what is deleted is not told again. */
export function deletionRecord(message: StoredMessage, now: number): LogRecord {
  return { type: 'message_deleted', timestamp: now, message: emptied(withoutOffset(message), now) };
}

/** The log gives every record a position of its own. */
function withoutOffset({ offset: _, ...message }: StoredMessage): Message {
  return message;
}
