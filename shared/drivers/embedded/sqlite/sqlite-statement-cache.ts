import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** Limits the memory for compiled statements of varying texts. */
const statementsMax = 500;

/** Returns the compiled statement of a text from an LRU cache. Rows are arrays. */
export function statementCache(db: DatabaseSync): (sql: string) => StatementSync {
  const kept = new Map<string, StatementSync>();
  return (sql) => {
    let statement = kept.get(sql);
    if (statement === undefined) {
      statement = db.prepare(sql);
      statement.setReturnArrays(true);
      if (kept.size >= statementsMax) kept.delete(kept.keys().next().value!);
    } else {
      kept.delete(sql);
    }
    kept.set(sql, statement);
    return statement;
  };
}
