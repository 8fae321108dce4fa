import type { SQLInputValue } from 'node:sqlite';
import type { Row } from '../../../ports/installation-rows.ts';

/** How the rows of a part of an installation are read, page by page, and written. */
export interface SqlitePart {
  /** The rows behind the cursor, at most `rowsPageMax`, and the cursor behind them. Null: from the start. */
  page(after: unknown): { rows: Row[]; last: unknown };
  /** Inside a write of the file. A row that is there stays as it is. */
  write(row: Row): void;
}

/** What a part reads and writes its table by; rows come as arrays. */
export interface SqliteAccess {
  all(sql: string, ...bound: SQLInputValue[]): SQLInputValue[][];
  run(sql: string, ...bound: SQLInputValue[]): void;
}
