import type { Migration } from '../sqlite/migrations.ts';

/**
 * The delivery ledger. Ids are UUIDs and stored as their 16 bytes: rows are many, and live for a week. The index by user
 * answers what became of a message on one's own devices without a walk over everyone's.
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
