import type { SQLInputValue } from 'node:sqlite';
import type { Delivery } from '../../../ports/deliveries.ts';
import {
  rowsPageMax,
  type ChangeRow,
  type LostRecordRow,
  type MessageRow,
  type Row,
  type StoreRows,
  type TopicCountersRow,
} from '../../../ports/installation-rows.ts';
import { packId, unpackId } from '../../packed-id.ts';
import { storedChangeType, toChangeType } from '../messages/sqlite-message-rows.ts';
import type { SqliteAccess, SqlitePart } from './sqlite-part.ts';

/** The parts of an installation that are not documents. */
export function sqliteStoreParts(access: SqliteAccess): Record<keyof StoreRows, SqlitePart> {
  return {
    topicFigures: topicFigures(access),
    changes: changes(access),
    messages: messages(access),
    lostRecords: lostRecords(access),
    deliveries: deliveries(access),
  };
}

function pageOf(
  found: SQLInputValue[][],
  toRow: (values: SQLInputValue[]) => Row,
  cursorOf: (values: SQLInputValue[]) => unknown,
): { rows: Row[]; last: unknown } {
  const last = found.at(-1);
  return { rows: found.map(toRow), last: last === undefined ? null : cursorOf(last) };
}

function topicFigures({ all, run }: SqliteAccess): SqlitePart {
  return {
    page: (after) =>
      pageOf(
        all(
          `SELECT topic, topic_id, message_count, last_offset, last_message_at FROM topic_stats WHERE topic > ? ORDER BY topic LIMIT ${rowsPageMax}`,
          (after ?? -1) as number,
        ),
        ([, topicId, messageCount, lastOffset, lastMessageAt]) => ({
          topicId,
          messageCount,
          lastOffset,
          lastMessageAt,
        }),
        ([topic]) => topic,
      ),
    write: (row) => {
      const { topicId, messageCount, lastOffset, lastMessageAt } = row as TopicCountersRow;
      run(
        'INSERT INTO topic_stats (topic_id, message_count, last_message_at, last_offset) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
        topicId,
        messageCount,
        lastMessageAt,
        lastOffset,
      );
    },
  };
}

/** Looks up the number of the topic, whose counters are written first. */
const topicNumber = '(SELECT topic FROM topic_stats WHERE topic_id = ?)';

function changes({ all, run }: SqliteAccess): SqlitePart {
  return {
    page: (after) =>
      pageOf(
        all(
          `SELECT c.offset, c.type, t.topic_id, c.message_id, c.timestamp FROM message_changes c JOIN topic_stats t ON t.topic = c.topic
        WHERE c.offset > ? ORDER BY c.offset LIMIT ${rowsPageMax}`,
          (after ?? -1) as number,
        ),
        ([offset, type, topicId, messageId, timestamp]) => ({
          type: toChangeType(type as number),
          topicId,
          messageId,
          offset,
          timestamp,
        }),
        ([offset]) => offset,
      ),
    write: (row) => {
      const { type, topicId, messageId, offset, timestamp } = row as ChangeRow;
      const [present] = all('SELECT message_id, type FROM message_changes WHERE offset = ?', offset);
      if (present === undefined)
        run(
          `INSERT INTO message_changes VALUES (?, ?, ${topicNumber}, ?, ?)`,
          offset,
          storedChangeType(type),
          topicId,
          messageId,
          timestamp,
        );
      else if (present[0] !== messageId) throw duplicateOffset(offset);
    },
  };
}

/** Rejects equal offsets, because each partition of a cluster has its own. */
function duplicateOffset(offset: number): Error {
  return new Error(
    `Two partitions have a record at offset ${offset}, but a file has a single sequence of offsets. ` +
      'An installation created as a cluster with several partitions can only be moved to a cluster',
  );
}

const messageColumns = `m.offset, m.id, t.topic_id, m.message, m.title, m.priority, m.tags, m.timestamp, m.expires_at, m.markdown, m.content_rev, m.edited_at, m.deleted_at, m.extras, m.published_by`;

function messages({ all, run }: SqliteAccess): SqlitePart {
  return {
    page: (after) =>
      pageOf(
        all(
          `SELECT ${messageColumns} FROM messages m JOIN topic_stats t ON t.topic = m.topic WHERE m.offset > ? ORDER BY m.offset LIMIT ${rowsPageMax}`,
          (after ?? Number.MIN_SAFE_INTEGER) as number,
        ),
        ([
          offset,
          id,
          topicId,
          message,
          title,
          priority,
          tags,
          timestamp,
          expiresAt,
          markdown,
          contentRev,
          editedAt,
          deletedAt,
          extras,
          publishedBy,
        ]) => ({
          id,
          topicId,
          offset: (offset as number) < 0 ? null : offset,
          message,
          title,
          priority,
          tags: tags === null ? [] : (JSON.parse(tags as string) as string[]),
          timestamp,
          expiresAt,
          markdown: markdown === 1,
          contentRev,
          editedAt,
          deletedAt,
          extras,
          publishedBy,
        }),
        ([offset]) => offset,
      ),
    write: (row) => {
      const of = row as MessageRow;
      const [present] = all('SELECT offset FROM messages WHERE id = ?', of.id);
      if (present !== undefined) return;
      const offset = of.offset ?? stubOffset(all, of.id);
      if (all('SELECT 1 FROM messages WHERE offset = ?', offset).length > 0) throw duplicateOffset(offset);
      run(
        `INSERT INTO messages VALUES (?, ?, ${topicNumber}, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        offset,
        of.id,
        of.topicId,
        of.message,
        of.title,
        of.priority,
        of.tags.length === 0 ? null : JSON.stringify(of.tags),
        of.timestamp,
        of.expiresAt,
        of.markdown ? 1 : 0,
        of.contentRev,
        of.editedAt,
        of.deletedAt,
        of.extras,
        of.publishedBy,
      );
    },
  };
}

/** A stub has a negative offset, derived from the change that created it. */
function stubOffset(all: SqliteAccess['all'], id: string): number {
  return -1 - Number(all('SELECT min(offset) FROM message_changes WHERE message_id = ?', id)[0]![0] ?? 0);
}

function lostRecords({ all, run }: SqliteAccess): SqlitePart {
  return {
    page: (after) => {
      const found = all(
        `SELECT l.topic, l.offset, t.topic_id FROM lost_records l JOIN topic_stats t ON t.topic = l.topic
        WHERE (l.topic, l.offset) > (?, ?) ORDER BY l.topic, l.offset LIMIT ${rowsPageMax}`,
        ...((after ?? [-1, -1]) as number[]),
      );
      return pageOf(
        found,
        ([, offset, topicId]) => ({ topicId, offset }),
        ([topic, offset]) => [topic, offset],
      );
    },
    write: (row) => {
      const { topicId, offset } = row as LostRecordRow;
      run(`INSERT INTO lost_records VALUES (${topicNumber}, ?) ON CONFLICT DO NOTHING`, topicId, offset);
    },
  };
}

const deliveryColumns =
  'message_id, device_id, topic_id, user_id, subscription_id, platform, status, reason, attempts, retry_at, updated_at';

function deliveries({ all, run }: SqliteAccess): SqlitePart {
  return {
    page: (after) => {
      const where = after === null ? '' : 'WHERE (message_id, device_id) > (?, ?)';
      const found = all(
        `SELECT ${deliveryColumns} FROM deliveries ${where} ORDER BY message_id, device_id LIMIT ${rowsPageMax}`,
        ...((after ?? []) as Uint8Array[]),
      );
      return pageOf(
        found,
        ([
          messageId,
          deviceId,
          topicId,
          userId,
          subscriptionId,
          platform,
          status,
          reason,
          attempts,
          retryAt,
          updatedAt,
        ]) => ({
          messageId: unpackId(messageId),
          deviceId: unpackId(deviceId),
          topicId: unpackId(topicId),
          userId: unpackId(userId),
          subscriptionId: unpackId(subscriptionId),
          platform,
          status,
          reason,
          attempts,
          retryAt,
          updatedAt,
        }),
        ([messageId, deviceId]) => [messageId, deviceId],
      );
    },
    write: (row) => {
      const of = row as Delivery;
      run(
        `INSERT INTO deliveries (${deliveryColumns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
        packId(of.messageId),
        packId(of.deviceId),
        packId(of.topicId),
        packId(of.userId),
        packId(of.subscriptionId),
        of.platform,
        of.status,
        of.reason,
        of.attempts,
        of.retryAt,
        of.updatedAt,
      );
    },
  };
}
