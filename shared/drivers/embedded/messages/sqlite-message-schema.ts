import type { Migration } from '../sqlite/migrations.ts';

/** `content_rev` of a message as it was published; an edit's is the edit's position. */
export const asPublished = -1;

/** `content_rev` of a stub that only a deletion made: nothing is known of its content. */
export const contentUnknown = -2;

/** `content_rev` of a message whose content was taken from it: no edit comes after that. */
export const contentTaken = Number.MAX_SAFE_INTEGER;

/** The bytes of a message's text and title: what the port calls its volume. */
export const volumeColumn = 'octet_length(message) + coalesce(octet_length(title), 0) AS bytes';

/**
 * Messages, the log's records, and the figures of topics.
 *
 * `messages` is the log and the history in one: a row is the `message` record at its position, so the text is stored
 * once and a publish writes one row. Only edits and deletions have rows of their own, in `message_changes`. An edit or
 * deletion that comes before its message makes a stub: a row with a negative position, which no read by position sees.
 *
 * Topics are small integers here: with the id's 36 characters in the index a row costs half as much again (measured).
 * There is no index by time: positions of a topic are in order of time but for the clocks' skew, so times are found by
 * halving the positions. `expires_at` stands in the topic's index so that a read can step over a run of expired
 * messages without fetching them, and `topic` in that of the expiries, so that the sweep can step over a topic's on hold.
 */
export const messagesMigration: Migration = {
  name: 'messages',
  sql: `
    CREATE TABLE messages (
      offset INTEGER PRIMARY KEY,
      id TEXT NOT NULL UNIQUE,
      topic INTEGER NOT NULL,
      message TEXT NOT NULL,
      title TEXT,
      priority INTEGER NOT NULL,
      tags TEXT,
      timestamp INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      markdown INTEGER NOT NULL,
      content_rev INTEGER NOT NULL,
      edited_at INTEGER,
      deleted_at INTEGER
    ) STRICT;
    CREATE INDEX messages_by_topic ON messages (topic, offset, expires_at);
    CREATE INDEX messages_by_expiry ON messages (expires_at, topic);

    CREATE TABLE message_changes (
      offset INTEGER PRIMARY KEY,
      type INTEGER NOT NULL,
      topic INTEGER NOT NULL,
      message_id TEXT NOT NULL,
      timestamp INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX message_changes_by_topic ON message_changes (topic, offset);
    CREATE INDEX message_changes_by_message ON message_changes (message_id);

    CREATE TABLE topic_stats (
      topic INTEGER PRIMARY KEY,
      topic_id TEXT NOT NULL UNIQUE,
      message_count INTEGER NOT NULL,
      last_message_at INTEGER,
      last_offset INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE log_end (position INTEGER NOT NULL) STRICT;
    INSERT INTO log_end VALUES (0);
  `,
};

/**
 * The index by topic answers everything about a message but its text, so that counting a large topic, or finding a page of it
 * by tag, priority or time, fetches no row: a tenth of the time (measured).
 */
export const messageSearchMigration: Migration = {
  name: 'message search',
  sql: `
    DROP INDEX messages_by_topic;
    CREATE INDEX messages_by_topic ON messages (topic, offset, expires_at, deleted_at, priority, timestamp, tags);
    CREATE INDEX messages_by_deletion ON messages (deleted_at, topic) WHERE deleted_at IS NOT NULL AND content_rev < ${contentTaken};
  `,
};

/**
 * Whether title and text are ASCII without NUL, which has as many characters as bytes (SQLite counts characters up to a NUL):
 * LIKE compares such a text as Unicode's case folding would. In the index, so that a search does not count the characters of
 * every text again, which takes a sixth of its time (measured).
 */
export const messagePlainMigration: Migration = {
  name: 'message plain',
  sql: `
    ALTER TABLE messages ADD COLUMN is_plain INTEGER AS (
      length(message) = octet_length(message) AND (title IS NULL OR length(title) = octet_length(title))) VIRTUAL;
    DROP INDEX messages_by_topic;
    CREATE INDEX messages_by_topic ON messages (topic, offset, expires_at, deleted_at, priority, timestamp, tags, is_plain);
  `,
};

/** What the message store needs of a file. */
export const messageMigrations: readonly Migration[] = [
  messagesMigration,
  messageSearchMigration,
  messagePlainMigration,
];
