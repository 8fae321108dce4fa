import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** Limits the memory for compiled statements of varying texts. */
const statementsMax = 500;

/** Up to this size, the cache does not track the order of use, which costs more than the lookup. */
const untrackedMax = statementsMax / 2;

/** Returns the compiled statement of a text from an LRU cache. Rows are arrays. */
export function statementCache(db: DatabaseSync): (sql: string) => StatementSync {
  const cache = new Map<string, StatementSync>();
  return (sql) => {
    let statement = cache.get(sql);
    if (statement !== undefined && cache.size <= untrackedMax) return statement;
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
