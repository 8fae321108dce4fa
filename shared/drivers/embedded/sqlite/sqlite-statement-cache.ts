import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** Harm prevented: texts that vary without end would keep a compiled statement each. */
const statementsMax = 500;

/** Gives the compiled statement of a text, and keeps the ones used last. Rows come as arrays. */
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
