import type { SQLInputValue, SQLOutputValue } from 'node:sqlite';
import type { Device, Platform } from '../../../domain/push/device.ts';
import type { Subscription } from '../../../domain/push/subscription.ts';
import {
  deliveryStatuses,
  undeliveredStatuses,
  type Claim,
  type Deliveries,
  type Delivery,
  type DeliveryStatus,
  type Outcome,
  type UndeliveredStatus,
} from '../../../ports/deliveries.ts';
import { checkClaims, checkDeviceIds, chunkOutcomes } from '../../../ports/delivery-checks.ts';
import type { Collection } from '../../../ports/documents.ts';
import { packId, unpackId } from '../../packed-id.ts';
import type { SqliteFile } from '../sqlite/sqlite-file.ts';
import { sqliteFollowedTopics, sqliteRecipients } from './sqlite-recipients.ts';
import { statementCache } from '../sqlite/sqlite-statement-cache.ts';
import { sqliteUnavailable } from '../sqlite/sqlite-unavailable.ts';

export interface SqliteDeliveriesOptions {
  readonly file: SqliteFile;
  readonly subscriptions: Collection<Subscription>;
  readonly devices: Collection<Device>;
}

const columns =
  'message_id, device_id, topic_id, user_id, subscription_id, platform, status, reason, attempts, retry_at, updated_at';

/** One statement per combination of claimable states. */
const claimSql = (again: readonly UndeliveredStatus[]): string => `
  INSERT INTO deliveries (${columns}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'pending', NULL, 1, NULL, ?7)
  ON CONFLICT DO UPDATE SET status = 'pending', reason = NULL, attempts = attempts + 1, retry_at = NULL, updated_at = ?7
  WHERE (status = 'retrying' AND coalesce(retry_at, 0) <= ?7) OR (status = 'pending' AND updated_at < ?8)
    OR status IN (${undeliveredStatuses
      .filter((status) => again.includes(status))
      .map((status) => `'${status}'`)
      .join(', ')})`;

const recordSql = `
  INSERT INTO deliveries (${columns}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0, ?9, ?10)
  ON CONFLICT DO UPDATE SET status = ?7, reason = ?8, retry_at = ?9, updated_at = ?10
  WHERE status <> 'sent' OR ?7 NOT IN ('skipped', 'retrying')`;

const removeSql = `
  DELETE FROM deliveries WHERE (message_id, device_id) IN (
    SELECT message_id, device_id FROM deliveries INDEXED BY deliveries_by_time WHERE updated_at < ? ORDER BY updated_at LIMIT ?)`;

const removeOfUserSql = `
  DELETE FROM deliveries WHERE (message_id, device_id) IN (
    SELECT message_id, device_id FROM deliveries INDEXED BY deliveries_by_user WHERE user_id = ? LIMIT ?)`;

/** Rows per write, so that a page of skips does not block the event loop and other writes. */
const recordedMax = 100;

/**
 * Recipients and delivery ledger of an embedded installation, in the shared file. Requires the document tables of
 * subscriptions and devices, and `deliveriesMigration`. `close` leaves the file open.
 */
export function openSqliteDeliveries({ file, subscriptions, devices }: SqliteDeliveriesOptions): Deliveries {
  const statement = statementCache(file.db);
  const findRecipients = sqliteRecipients(statement, { subscriptions, devices });
  const followedTopics = sqliteFollowedTopics(statement, subscriptions);
  const write = <T>(work: () => T) =>
    file.writeBulk(work).catch((error: unknown) => {
      throw sqliteUnavailable(error);
    });
  return {
    recipients: (match, page) => read(() => findRecipients.recipients(match, page)),
    topicsWithRecipients: (topicIds) => read(() => findRecipients.topicsWithRecipients(topicIds)),
    followedTopics: (userIds, limit) => read(() => followedTopics(userIds, limit)),
    claim: async (claims, { now, staleAfterMs, again = [] }) => {
      const params = checkClaims(claims).map((claim) => ({
        deviceId: claim.deviceId,
        values: [...idsOf(claim), now, now - staleAfterMs],
      }));
      if (params.length === 0) return new Set();
      return write(() => {
        const claiming = statement(claimSql(again));
        return new Set(
          params.filter(({ values }) => claiming.run(...values).changes === 1).map(({ deviceId }) => deviceId),
        );
      });
    },
    record: async (outcomes, now) => {
      for (const part of chunkOutcomes(outcomes, recordedMax)) {
        const params = part.map((outcome) => [
          ...idsOf(outcome),
          outcome.status,
          outcome.reason,
          retryAtOf(outcome),
          now,
        ]);
        await write(() => params.forEach((values) => statement(recordSql).run(...values)));
      }
    },
    find: (messageId, filter) =>
      read(() => {
        checkDeviceIds(filter.deviceIds);
        const { where, params } = filterOf(messageId, filter);
        // Without this hint, SQLite reads all rows of the message, because they are already sorted.
        const index =
          filter.userId !== undefined && filter.deviceIds === undefined ? 'INDEXED BY deliveries_by_user' : '';
        const sql = `SELECT ${columns} FROM deliveries ${index} WHERE ${where} ORDER BY device_id LIMIT ?`;
        return (statement(sql).all(...params, filter.limit) as unknown as Row[]).map(deliveryOf);
      }),
    counts: (messageId) =>
      read(() => {
        const rows = statement('SELECT status, count(*) FROM deliveries WHERE message_id = ? GROUP BY status').all(
          packId(messageId),
        ) as unknown as Row[];
        return { ...noCounts(), ...Object.fromEntries(rows) } as Record<DeliveryStatus, number>;
      }),
    removeOfUser: (userId, limit) => write(() => Number(statement(removeOfUserSql).run(packId(userId), limit).changes)),
    removeBefore: (time, limit) => write(() => Number(statement(removeSql).run(time, limit).changes)),
    close: async () => undefined,
  };
}

async function read<T>(work: () => T): Promise<T> {
  try {
    return work();
  } catch (error) {
    throw sqliteUnavailable(error);
  }
}

function idsOf({ messageId, deviceId, topicId, userId, subscriptionId, platform }: Claim): SQLInputValue[] {
  return [packId(messageId), packId(deviceId), packId(topicId), packId(userId), packId(subscriptionId), platform];
}

const retryAtOf = ({ status, retryAt }: Outcome) => (status === 'retrying' ? (retryAt ?? null) : null);

function filterOf(
  messageId: string,
  { userId, deviceIds, after }: { userId?: string; deviceIds?: readonly string[]; after?: string },
): { where: string; params: SQLInputValue[] } {
  const conditions = ['message_id = ?'];
  const params: SQLInputValue[] = [packId(messageId)];
  if (userId !== undefined) {
    conditions.push('user_id = ?');
    params.push(packId(userId));
  }
  if (deviceIds !== undefined) {
    conditions.push(`device_id IN (${deviceIds.map(() => '?').join(', ')})`);
    params.push(...deviceIds.map(packId));
  }
  if (after !== undefined) {
    conditions.push('device_id > ?');
    params.push(packId(after));
  }
  return { where: conditions.join(' AND '), params };
}

const noCounts = () => Object.fromEntries(deliveryStatuses.map((status) => [status, 0]));

type Row = readonly SQLOutputValue[];

function deliveryOf(row: Row): Delivery {
  const [messageId, deviceId, topicId, userId, subscriptionId, platform, status, reason, attempts, retryAt, updatedAt] =
    row;
  return {
    messageId: unpackId(messageId),
    deviceId: unpackId(deviceId),
    topicId: unpackId(topicId),
    userId: unpackId(userId),
    subscriptionId: unpackId(subscriptionId),
    platform: platform as Platform,
    status: status as DeliveryStatus,
    reason: reason as string | null,
    attempts: attempts as number,
    retryAt: retryAt as number | null,
    updatedAt: updatedAt as number,
  };
}
