import type { SQLOutputValue } from 'node:sqlite';
import type { Device, Platform } from '../../../domain/push/device.ts';
import type {
  Badge,
  DigestInterval,
  MobileSettings,
  QuietHours,
  Subscription,
} from '../../../domain/push/subscription.ts';
import type { Deliveries, FollowedTopic, Recipient, RecipientDevice } from '../../../ports/deliveries.ts';
import type { Collection } from '../../../ports/documents.ts';
import { documentTableName, indexName } from '../documents/sqlite-document-tables.ts';
import type { statementCache } from '../sqlite/sqlite-statement-cache.ts';

type Statements = ReturnType<typeof statementCache>;
type Row = readonly SQLOutputValue[];

/** Limits the rows per page, because a selective filter could otherwise read a whole topic. */
const scannedMax = 2_000;

/** Reads pages of a topic's recipients from the tables of the documents driver. */
export function sqliteRecipients(
  statement: Statements,
  { subscriptions, devices }: { subscriptions: Collection<Subscription>; devices: Collection<Device> },
): {
  recipients: (...call: Parameters<Deliveries['recipients']>) => { recipients: Recipient[]; next: string | null };
  topicsWithRecipients: (topicIds: readonly string[]) => Set<string>;
} {
  const table = documentTableName(subscriptions);
  const index = indexName(subscriptions, 'byTopicFlags');
  // One read of the index per combination of flags that allows pushes.
  const ofTopic = [
    'mobile_enabled = 1 AND web_enabled = 1',
    'mobile_enabled = 1 AND web_enabled = 0',
    'mobile_enabled = 0 AND web_enabled = 1',
  ].map((flags) => `SELECT id FROM ${table} INDEXED BY ${index} WHERE topic_id = ?1 AND ${flags}`);
  // IDs are the last column of the index, because the table is clustered by them: SQLite merges the sorted reads.
  const scannedIds = `${ofTopic.map((read) => `${read} AND id > ?2`).join(' UNION ALL ')} ORDER BY id`;
  const matchingRows = `
    SELECT id, user_id, priority_threshold, tags_filter, sound_enabled, vibrate_enabled, notification_sound, quiet_hours, max_per_minute, created_at, mobile_enabled, web_enabled, allow_critical, badge, digest, digest_at, digest_timezone
    FROM (${scannedIds} LIMIT ${scannedMax}) CROSS JOIN ${table} USING (id)
    WHERE priority_threshold <= ?3 AND (
      json_array_length(tags_filter) = 0
      OR EXISTS (SELECT 1 FROM json_each(tags_filter) AS wanted WHERE wanted.value IN (SELECT value FROM json_each(?4))))
    ORDER BY id LIMIT ?5`;
  const lastScanned = `${scannedIds} LIMIT 1 OFFSET ${scannedMax - 1}`;
  const activeDevices = `
    SELECT user_id, id, platform, push_token, doubted_at, created_at FROM ${documentTableName(devices)} INDEXED BY ${indexName(devices, 'byUser')}
    WHERE user_id IN (SELECT value FROM json_each(?)) AND is_active = 1 ORDER BY user_id, created_at, id`;

  const devicesOf = (userIds: readonly string[]) => {
    const byUser = new Map<string, RecipientDevice[]>(userIds.map((userId) => [userId, []]));
    for (const [userId, id, platform, pushToken, doubtedAt, createdAt] of statement(activeDevices).all(
      JSON.stringify(userIds),
    ) as unknown as Row[]) {
      byUser.get(userId as string)!.push({
        id: id as string,
        platform: platform as Platform,
        pushToken: pushToken as string,
        doubtedAt: doubtedAt as number | null,
        createdAt: createdAt as number,
      });
    }
    return byUser;
  };
  return {
    recipients({ topicId, message }, { after, limit }) {
      const from = after ?? '';
      const found = statement(matchingRows).all(
        topicId,
        from,
        message.priority,
        JSON.stringify(message.tags),
        limit + 1,
      ) as unknown as Row[];
      const rows = found.slice(0, limit);
      const last =
        found.length > limit ? rows.at(-1) : (statement(lastScanned).get(topicId, from) as unknown as Row | undefined);
      const byUser = devicesOf(rows.map((row) => row[1] as string));
      const recipients = rows.map((row): Recipient => ({
        subscriptionId: row[0] as string,
        userId: row[1] as string,
        subscribedAt: row[9] as number,
        settings: settingsOf(row),
        devices: byUser.get(row[1] as string)!,
      }));
      return { recipients, next: (last?.[0] as string | undefined) ?? null };
    },
    topicsWithRecipients: (topicIds) => {
      const any = statement(`${ofTopic.join(' UNION ALL ')} LIMIT 1`);
      return new Set(topicIds.filter((topicId) => any.get(topicId) !== undefined));
    },
  };
}

/** Returns the port's `followedTopics`. */
export function sqliteFollowedTopics(
  statement: Statements,
  subscriptions: Collection<Subscription>,
): (userIds: readonly string[], limit: number) => FollowedTopic[] {
  const sql = `
    SELECT user_id, topic_id, created_at, last_viewed_at FROM ${documentTableName(subscriptions)}
    INDEXED BY ${indexName(subscriptions, 'byUser')}
    WHERE user_id IN (SELECT value FROM json_each(?)) ORDER BY user_id LIMIT ?`;
  return (userIds, limit) => {
    const rows = statement(sql).all(JSON.stringify(userIds), limit) as unknown as Row[];
    return rows.map(([userId, topicId, createdAt, lastViewedAt]) => ({
      userId: userId as string,
      topicId: topicId as string,
      createdAt: createdAt as number,
      lastViewedAt: lastViewedAt as number | null,
    }));
  };
}

function settingsOf([
  ,
  ,
  priorityThreshold,
  tagsFilter,
  soundEnabled,
  vibrateEnabled,
  notificationSound,
  quietHours,
  maxPerMinute,
  ,
  mobileEnabled,
  webEnabled,
  allowCritical,
  badge,
  digest,
  digestAt,
  digestTimezone,
]: Row): MobileSettings {
  return {
    mobileEnabled: mobileEnabled === 1,
    webEnabled: webEnabled === 1,
    priorityThreshold: priorityThreshold as number,
    tagsFilter: JSON.parse(tagsFilter as string) as string[],
    soundEnabled: soundEnabled === 1,
    vibrateEnabled: vibrateEnabled === 1,
    notificationSound: notificationSound as string,
    quietHours: quietHours === null ? null : (JSON.parse(quietHours as string) as QuietHours),
    maxPerMinute: maxPerMinute as number | null,
    allowCritical: allowCritical === 1,
    badge: badge as Badge | null,
    digest: digest as DigestInterval | null,
    digestAt: digestAt as string | null,
    digestTimezone: digestTimezone as string | null,
  };
}
