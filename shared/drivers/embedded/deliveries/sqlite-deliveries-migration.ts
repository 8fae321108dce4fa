import type { Migration } from '../sqlite/migrations.ts';

/**
 * The delivery ledger. It has many rows that live for a week, so UUIDs are stored as 16 bytes. The index by user
 * finds the pushes to a user's own devices without reading those of others.
 */
export const deliveriesMigration: Migration = {
  name: 'deliveries',
  sql: `
    CREATE TABLE deliveries (
      message_id ANY NOT NULL,
      device_id ANY NOT NULL,
      topic_id ANY NOT NULL,
      user_id ANY NOT NULL,
      subscription_id ANY NOT NULL,
      platform TEXT NOT NULL,
      status TEXT NOT NULL,
      reason TEXT,
      attempts INTEGER NOT NULL,
      retry_at INTEGER,
      updated_at INTEGER NOT NULL,
      PRIMARY KEY (message_id, device_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX deliveries_by_user ON deliveries (user_id, message_id);
    CREATE INDEX deliveries_by_time ON deliveries (updated_at);
  `,
};
