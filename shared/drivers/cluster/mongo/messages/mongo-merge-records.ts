import type { PlacedRecord, RecordType } from '../../../../domain/messages/log-record.ts';
import { asPublished, contentOf, stubRev, originOf, type MessageDocument } from './mongo-message-collections.ts';

/** The fields of a stored message that decide about a record. */
export type MessageState = Pick<MessageDocument, 'offset' | 'contentRev' | 'timestamp' | 'deletedAt'>;

/** The effect of records on a message: a document to insert, fields to set, or nothing. */
export interface MergedMessage {
  readonly inserted: MessageDocument | null;
  readonly set: Partial<MessageDocument> | null;
}

/**
 * Merges records into a message, independent of their order. A message's offset, times and published content are those
 * of its `message` record with the lowest offset. Its content is that of the change with the highest offset, or the
 * published content. It is deleted if any deletion was applied, at the earliest time of these: a deletion is final,
 * even against a concurrent edit.
 *
 * @param stored null: the message is not stored
 * @param records of this message, at least one, in any order
 */
export function mergeRecords(
  stored: MessageState | null,
  records: readonly [PlacedRecord, ...PlacedRecord[]],
): MergedMessage {
  const set = {
    ...mergedPublish(stored, records),
    ...mergedContent(stored, records),
    ...mergedDeletion(stored, records),
  };
  if (stored !== null) return { inserted: null, set: Object.keys(set).length === 0 ? null : set };
  const [
    {
      partition,
      record: { message },
    },
  ] = records;
  const stub = contentOf({ ...message, editedAt: null }, stubRev);
  return { inserted: { _id: message.id, ...originOf(message, partition), ...stub, ...set }, set: null };
}

const ofType = (records: readonly PlacedRecord[], type: RecordType): readonly PlacedRecord[] =>
  records.filter(({ record }) => record.type === type);

function mergedPublish(stored: MessageState | null, records: readonly PlacedRecord[]): Partial<MessageDocument> {
  const published = ofType(records, 'message').filter(({ offset }) => offset < (stored?.offset ?? Infinity));
  if (published.length === 0) return {};
  const { offset, partition, record } = published.reduce((a, b) => (b.offset < a.offset ? b : a));
  const isEdited = (stored?.contentRev ?? stubRev) > asPublished;
  return {
    offset,
    ...originOf(record.message, partition),
    ...(isEdited ? {} : contentOf(record.message, asPublished)),
  };
}

function mergedContent(stored: MessageState | null, records: readonly PlacedRecord[]): Partial<MessageDocument> {
  const contentRev = stored?.contentRev ?? stubRev;
  const changes = records.filter(
    ({ offset, record: { type } }) => type !== 'message' && type !== 'message_deleted' && offset > contentRev,
  );
  if (changes.length === 0) return {};
  const newest = changes.reduce((a, b) => (b.offset > a.offset ? b : a));
  return contentOf(newest.record.message, newest.offset);
}

function mergedDeletion(stored: MessageState | null, records: readonly PlacedRecord[]): Partial<MessageDocument> {
  const times = ofType(records, 'message_deleted').map(({ record }) => record.message.deletedAt ?? record.timestamp);
  const earliest = Math.min(...times);
  return earliest < (stored?.deletedAt ?? Infinity) ? { deletedAt: earliest } : {};
}
