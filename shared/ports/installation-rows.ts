import type { RecordType } from '../domain/messages/log-record.ts';
import type { MessageExtras } from '../domain/messages/message-extras.ts';
import type { Message } from '../domain/messages/message.ts';
import type { Delivery } from './deliveries.ts';

/** A stored message in an engine-independent form. */
export interface MessageRow extends Omit<Message, 'isDeleted' | 'isEdited' | 'publishedBy' | keyof MessageExtras> {
  /** Null for a stub: an edit or deletion whose message has not been stored. */
  readonly offset: number | null;
  /** The revision of the content, in the drivers' stored form. */
  readonly contentRev: number;
  /** The stored forms of the extras and the publisher. */
  readonly extras: string | null;
  readonly publishedBy: string | null;
}

/** The record of an edit or deletion. */
export interface ChangeRow {
  readonly type: Exclude<RecordType, 'message'>;
  readonly topicId: string;
  readonly messageId: string;
  readonly offset: number;
  readonly timestamp: number;
}

/** The counters of a topic. */
export interface TopicCountersRow {
  readonly topicId: string;
  readonly messageCount: number;
  readonly lastOffset: number;
  readonly lastMessageAt: number | null;
}

/** The offset of a removed record. */
export interface LostRecordRow {
  readonly topicId: string;
  readonly offset: number;
}

/** The row types that are not documents. Changes precede messages, because a stub exists only as its change. */
export interface StoreRows {
  readonly topicFigures: TopicCountersRow;
  readonly changes: ChangeRow;
  readonly messages: MessageRow;
  readonly lostRecords: LostRecordRow;
  readonly deliveries: Delivery;
}
export const storeParts = [
  'topicFigures',
  'changes',
  'messages',
  'lostRecords',
  'deliveries',
] as const satisfies readonly (keyof StoreRows)[];

/** A key of StoreRows, or the name of a document collection. */
export type Part = string;
export type Row = object;

/** The maximum number of rows per read or write. */
export const rowsPageMax = 500;

/**
 * Progress of an import, stored in the target installation. Servers refuse to open the installation until the import
 * ends.
 */
export interface ImportProgress {
  readonly exportId: string;
  /** The number of rows written per part. */
  readonly written: Readonly<Record<Part, number>>;
}

export interface ExportState {
  readonly blockers: readonly string[];
  readonly notes: readonly string[];
}

/** All data of an installation as rows, for moving it while no server runs. Throws AppError `unavailable`. */
export interface InstallationRows {
  readonly engine: 'embedded' | 'cluster';
  /** The number of partitions of the log. */
  readonly partitions: number;

  /** Per partition, the offset after the highest one assigned. */
  ends(): Promise<readonly number[]>;

  /** Returns the rows of the part in pages of at most `rowsPageMax`. The order is stable while nothing is written. */
  rows(part: Part): AsyncIterable<readonly Row[]>;

  /**
   * Writes at most `rowsPageMax` rows unchanged. Skips rows that already exist. Rejects on a conflict with a different
   * row.
   */
  write(part: Part, rows: readonly Row[]): Promise<void>;

  /** Returns the progress of an unfinished import, or null. */
  importProgress(): Promise<ImportProgress | null>;
  saveImportProgress(place: ImportProgress): Promise<void>;

  /**
   * Ends the import: sets the log's bases above `ends` and moves the consumer groups there. Servers can then open the
   * installation.
   */
  finishImport(ends: readonly number[]): Promise<void>;

  /** Returns why an export would be incomplete now, and other warnings, as text for the operator. */
  state(): Promise<ExportState>;

  close(): Promise<void>;
}
