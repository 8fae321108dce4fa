import { setImmediate as nextTurn } from 'node:timers/promises';
import { forgetActor } from '../../../domain/messages/actor.ts';
import { forgetExtras } from '../../../domain/messages/message-extras.ts';
import type { Messages } from '../../../ports/messages/messages.ts';
import type { SqliteFile } from '../sqlite/sqlite-file.ts';

/** Offsets per read: some milliseconds, which publishes may have to wait. */
const offsetsPerRead = 5_000;

interface Trace {
  readonly offset: number;
  readonly published_by: string | null;
  readonly extras: string | null;
}

/** Implements the port's `forgetAccount` with short reads and writes between publishes; there is no index. */
export function sqliteForgetAccount(file: SqliteFile): Messages['forgetAccount'] {
  const bounds = file.db.prepare('SELECT min(offset) AS first, max(offset) AS last FROM messages');
  const traces = file.db.prepare(`
    SELECT offset, published_by, extras FROM messages WHERE offset BETWEEN ? AND ?
      AND (instr(published_by, ?3) > 0 OR instr(extras, ?3) > 0)`);
  const forget = file.db.prepare('UPDATE messages SET published_by = ?, extras = ? WHERE offset = ?');
  return async (accountId) => {
    const { first, last } = bounds.get() as { first: number | null; last: number | null };
    for (let from = first ?? 0; last !== null && from <= last; from += offsetsPerRead) {
      const found = traces.all(from, from + offsetsPerRead - 1, accountId) as unknown as Trace[];
      if (found.length === 0) await nextTurn();
      else
        await file.write(() => {
          for (const { offset, published_by, extras } of found)
            forget.run(forgetActor(published_by, accountId), forgetExtras(extras, accountId), offset);
        });
    }
  };
}
