import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** Limits the memory for compiled statements of varying texts. */
const statementsMax = 500;

/** Returns the compiled statement of a text from an LRU cache. Rows are arrays. */
export function statementCache(db: DatabaseSync): (sql: string) => StatementSync {
  const cache = new Map<string, StatementSync>();
  return (sql) => {
    let statement = cache.get(sql);
    if (statement === undefined) {
      statement = db.prepare(sql);
      statement.setReturnArrays(true);
      if (cache.size >= statementsMax) cache.delete(cache.keys().next().value!);
    } else {
      cache.delete(sql);
    }
    cache.set(sql, statement);
    return statement;
  };
}
