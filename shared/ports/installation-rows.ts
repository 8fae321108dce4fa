import type { RecordType } from '../domain/messages/log-record.ts';
import type { Message } from '../domain/messages/message.ts';
import type { Delivery } from './deliveries.ts';

/** A message as a store has it, whatever the engine. */
export interface MessageRow extends Omit<Message, 'isDeleted' | 'isEdited'> {
  /** Null for a stub: an edit or a deletion whose message never came. */
  readonly offset: number | null;
  /** Which edit the content is from, as the drivers write it. */
  readonly contentRev: number;
}

/** An edit's or a deletion's record. */
export interface ChangeRow {
  readonly type: Exclude<RecordType, 'message'>;
  readonly topicId: string;
  readonly messageId: string;
  readonly offset: number;
  readonly timestamp: number;
}

/** A topic's figures. */
export interface TopicFiguresRow {
  readonly topicId: string;
  readonly messageCount: number;
  readonly lastOffset: number;
  readonly lastMessageAt: number | null;
}

/** The rows that are not documents. Changes come before messages: what is known of a stub is its change. */
export interface StoreRows {
  readonly topicFigures: TopicFiguresRow;
  readonly changes: ChangeRow;
  readonly messages: MessageRow;
  readonly deliveries: Delivery;
}
export const storeParts = [
  'topicFigures',
  'changes',
  'messages',
  'deliveries',
] as const satisfies readonly (keyof StoreRows)[];

/** One of these, or the name of a collection of documents. */
export type Part = string;
export type Row = object;

/** Rows that are read and written at once, at most. */
export const rowsPageMax = 500;

/** What an import has done so far; kept in the installation that it goes into, which no server opens meanwhile. */
export interface ImportPlace {
  readonly exportId: string;
  /** How many of a part's rows are written. */
  readonly written: Readonly<Record<Part, number>>;
}

export interface ExportState {
  readonly obstacles: readonly string[];
  readonly notes: readonly string[];
}

/** An installation's stores as rows, all that there is of them, for moving it while no server runs. Throws AppError `unavailable`. */
export interface InstallationRows {
  readonly engine: 'embedded' | 'cluster';
  /** How many partitions the log has. */
  readonly partitions: number;

  /** One past the highest position that was handed out, per partition. */
  ends(): Promise<readonly number[]>;

  /** Every row of the part, in pages of at most `rowsPageMax`, in an order that is the same while nothing is written. */
  rows(part: Part): AsyncIterable<readonly Row[]>;

  /** Writes rows as they are; of those that are there already nothing changes. At most `rowsPageMax`. A clash with another row rejects. */
  write(part: Part, rows: readonly Row[]): Promise<void>;

  /** Where an import stands that was begun and is not finished, or null. */
  importPlace(): Promise<ImportPlace | null>;
  keepImportPlace(place: ImportPlace): Promise<void>;

  /** Sets the log's base above the ends, has the groups begin there, and ends the import: servers may open the installation. */
  finishImport(ends: readonly number[]): Promise<void>;

  /** Why an export made now would not be whole, and what else the operator has to know of it, in words. */
  state(): Promise<ExportState>;

  close(): Promise<void>;
}
