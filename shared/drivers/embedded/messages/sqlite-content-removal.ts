import type { Messages } from '../../../ports/messages/messages.ts';
import type { SqliteFile } from '../sqlite/sqlite-file.ts';
import { redactedRev } from './sqlite-message-schema.ts';

/** Messages redacted per write: some milliseconds, which publishes may have to wait. */
const batchSizeMax = 250;

/** Implements the port's `redactDeleted` with short writes between publishes. */
export function sqliteContentRemoval(file: SqliteFile): Messages['redactDeleted'] {
  const due = file.db.prepare(`
    SELECT offset FROM messages INDEXED BY messages_by_deletion
    WHERE deleted_at IS NOT NULL AND content_rev < ${redactedRev} AND deleted_at <= ?
      AND topic NOT IN (SELECT topic FROM topic_stats WHERE topic_id IN (SELECT value FROM json_each(?)))
    ORDER BY deleted_at LIMIT ?`);
  const removeContent = file.db.prepare(
    `UPDATE messages SET message = '', title = NULL, tags = NULL, extras = NULL, content_rev = ${redactedRev} WHERE offset = ?`,
  );

  const redactBatch = (time: number, batchSize: number, except: string): number => {
    const rows = due.all(time, except, batchSize) as unknown as { offset: number }[];
    for (const { offset } of rows) removeContent.run(offset);
    return rows.length;
  };

  return async (time, limit, except = []) => {
    const exceptJson = JSON.stringify(except);
    let redacted = 0;
    while (redacted < limit) {
      const batchSize = Math.min(limit - redacted, batchSizeMax);
      const count = await file.write(() => redactBatch(time, batchSize, exceptJson));
      redacted += count;
      if (count < batchSize) break;
    }
    return redacted;
  };
}
