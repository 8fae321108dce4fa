import type { LifetimeChange } from '../../../ports/messages/message-retention.ts';
import type { SqliteFile } from './sqlite-file.ts';

interface ExpiryRow {
  readonly offset: number;
  readonly timestamp: number;
  readonly expires_at: number;
}

/**
 * Changes the expiry of a topic's messages in one write. `onChanged` is called with the earliest new expiry before the
 * change becomes visible.
 */
export function sqliteLifetimes(
  file: SqliteFile,
  onChanged: (topicId: string, earliest: number) => void,
): (topicId: string, of: LifetimeChange) => Promise<number | null> {
  const { db } = file;
  const nextRows = db.prepare(`
    SELECT offset, timestamp, expires_at FROM messages INDEXED BY messages_by_topic
    WHERE topic = (SELECT topic FROM topic_stats WHERE topic_id = ?) AND offset > ? ORDER BY offset LIMIT ?`);
  const expire = db.prepare('UPDATE messages SET expires_at = ? WHERE offset = ?');
  return (topicId, { lifetimeMs, onlyLonger, after, limit, now }) =>
    file.writeBulk(() => {
      const rows = nextRows.all(topicId, Math.max(after, -1), limit) as unknown as ExpiryRow[];
      let earliest = Infinity;
      for (const { offset, timestamp, expires_at: previous } of rows) {
        const expiresAt = timestamp + lifetimeMs;
        if (previous <= now || (onlyLonger ? expiresAt <= previous : expiresAt === previous)) continue;
        expire.run(expiresAt, offset);
        earliest = Math.min(earliest, expiresAt);
      }
      if (earliest < Infinity) onChanged(topicId, earliest);
      return rows.at(-1)?.offset ?? null;
    });
}
