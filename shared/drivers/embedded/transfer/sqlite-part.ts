import type { SQLInputValue } from 'node:sqlite';
import type { Row } from '../../../ports/installation-rows.ts';

/** Reads the rows of a part of an installation page by page, and writes them. */
export interface SqlitePart {
  /** Returns at most `rowsPageMax` rows after the cursor, and the next cursor. Null starts at the beginning. */
  page(after: unknown): { rows: Row[]; last: unknown };
  /** Call inside a write of the file. Keeps existing rows. */
  write(row: Row): void;
}

/** The statements of a part; rows are arrays. */
export interface SqliteAccess {
  all(sql: string, ...params: SQLInputValue[]): SQLInputValue[][];
  run(sql: string, ...params: SQLInputValue[]): void;
}
