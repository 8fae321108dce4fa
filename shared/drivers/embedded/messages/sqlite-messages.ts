import type { DatabaseSync } from 'node:sqlite';
import type { PlacedRecord } from '../../../domain/messages/log-record.ts';
import { asManagersSee, type MessageFilter } from '../../../domain/messages/message-filter.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { ReconciledRecord } from '../../../ports/messages/message-ingest.ts';
import type { ExpiredMessage, ExpiredOfTopic, MessageRetention } from '../../../ports/messages/message-retention.ts';
import type { MessageReads } from '../../../ports/messages/message-reads.ts';
import type { StorageFeatures } from '../../../ports/engine.ts';
import type { Messages } from '../../../ports/messages/messages.ts';
import { planMsMax, planTookTooLong } from '../../../ports/messages/plan-limit.ts';
import { searchMsMax, searchTookTooLong } from '../../../ports/messages/search-limit.ts';
import { CountCache } from './count-cache.ts';
import { RecentMessages } from './recent-messages.ts';
import type { RecordTable } from '../log/record-table.ts';
import { sqliteContentRemoval } from './sqlite-content-removal.ts';
import type { SqliteFile } from '../sqlite/sqlite-file.ts';
import { sqliteForgetAccount } from './sqlite-forget-account.ts';
import { sqliteLostRecords, type SqliteLostRecords } from './sqlite-lost-records.ts';
import { sqliteFreePages } from '../sqlite/sqlite-free-pages.ts';
import { sqliteLifetimes } from '../sqlite/sqlite-lifetimes.ts';
import { sqliteMessageReads, type SqliteMessageReads } from './sqlite-message-reads.ts';
import { toMessage, topicIdOf, type MessageRow, type TopicMessageRow } from './sqlite-message-rows.ts';
import type { FoundRows } from './sqlite-message-search.ts';
import { sqliteMessageRemoval, type SqliteMessageRemoval } from './sqlite-message-removal.ts';
import { sqliteMessageWriter } from './sqlite-message-writer.ts';
import type { ExpiredMessageRow } from './sqlite-retention-reads.ts';
import { SqliteReader } from './sqlite-reader.ts';
import { sqliteUnavailable } from '../sqlite/sqlite-unavailable.ts';
import { sqliteNewestTimes } from './sqlite-newest-times.ts';
import { sqliteUnreadCounts } from './sqlite-unread-counts.ts';

export type SqliteMessages = Messages & RecordTable & Required<Pick<StorageFeatures, 'reclaimSpace'>>;

export interface SqliteMessagesOptions {
  readonly file: SqliteFile;
  readonly clock: Clock;
  /** Time limit of a search. */
  readonly searchMsMax?: number;
}

/**
 * The message store on a migrated SQLite file. It has one partition, 0.
 *
 * It is also the table of the embedded log, which calls `applySync` inside the append's commit. `apply` and `reconcile`
 * therefore usually have nothing to write, except for records from other sources, such as an import. The watermark is
 * always the head, because commits leave no gap. `close` ends the search threads and leaves the file open.
 */
export function openSqliteMessages({
  file,
  clock,
  searchMsMax: workMsMax = searchMsMax,
}: SqliteMessagesOptions): SqliteMessages {
  const writer = sqliteMessageWriter(file.db, clock);
  const reads = sqliteMessageReads(file.db);
  const counts = new CountCache();
  const countAfter = sqliteUnreadCounts(file.db, counts);
  const timesAfter = sqliteNewestTimes(file.db);
  const recent = new RecentMessages();
  const hasForeignCommits = foreignCommitDetector(file.db);
  const sweeping = openRetention(file, writer.end, { recent, counts });
  const { removal } = sweeping;
  const clearCaches = () => {
    recent.clear();
    counts.clear();
    removal.onWritten(0);
  };
  const { pages, texts, plans } = openReaders(file.path, workMsMax);

  const applySync = (records: readonly PlacedRecord[]): void => {
    const areNew = writer.apply(records);
    for (const {
      record: { message },
    } of records) {
      counts.changed(message.topicId);
      removal.onWritten(message.expiresAt);
    }
    file.afterCommit(() => {
      if (areNew) for (const { offset, record } of records) recent.add(offset, record.message.id);
      else recent.clear(); // an earlier duplicate may have replaced a cached message
    });
  };

  const isStored = (placed: PlacedRecord): boolean => isRecent(recent, placed) || reads.isStored(placed);

  const apply = async (records: readonly PlacedRecord[]): Promise<void> => {
    if (hasForeignCommits()) clearCaches();
    const missing = records.filter((placed) => !isStored(placed));
    if (missing.length > 0) await file.write(() => applySync(missing));
  };

  const reconcileRecords = async (records: readonly PlacedRecord[]): Promise<ReconciledRecord[]> => {
    await apply(records);
    if (hasForeignCommits()) clearCaches();
    const now = clock();
    const reconciled = records.filter((placed) => placed.record.message.expiresAt > now && isStored(placed));
    return withPreviousOffsets(reads, reconciled);
  };

  return {
    applySync,
    readFrom: reads.readFrom,
    end: writer.end,
    apply: (records) => mapUnavailable(() => apply(records)),
    reconcile: (_partition, records) => mapUnavailable(() => reconcileRecords(records)),
    watermark: () => mapUnavailable(() => writer.end() - 1),
    moveWatermark: async () => undefined,
    ...readsOf(reads, sqliteLostRecords(file.db)),
    countAfter: (marks, page) =>
      mapUnavailable(() => {
        if (hasForeignCommits()) clearCaches();
        return countAfter(marks, page);
      }),
    timesAfter: (marks, page) => mapUnavailable(() => timesAfter(marks, page)),
    ...searchesOf(pages, texts),
    ...sweepsOf({ plans, ...sweeping }),
    ping: () => mapUnavailable(() => void file.db.prepare('SELECT 1').get()),
    close: async () => void (await Promise.all([pages.close(), texts.close(), plans.close()])),
  };
}

/** The port's reads of one topic or message. */
function readsOf(reads: SqliteMessageReads, lost: SqliteLostRecords): Omit<MessageReads, 'countAfter' | 'timesAfter'> {
  return {
    find: (messageId) => mapUnavailable(() => reads.find(messageId)),
    findMany: (messageIds) => mapUnavailable(() => messageIds.map(reads.find).filter((message) => message !== null)),
    newest: (topicId, page) => mapUnavailable(() => reads.newest(topicId, page)),
    newestOfEach: (topicIds, now) =>
      mapUnavailable(
        () =>
          new Map(
            topicIds
              .flatMap((topicId) => reads.newest(topicId, { limit: 1, now }))
              .map((message) => [message.topicId, message]),
          ),
      ),
    after: (topicId, page) => mapUnavailable(() => reads.after(topicId, page)),
    records: (topicId, page) => mapUnavailable(() => reads.records(topicId, page)),
    lastLost: (topicId, range) => mapUnavailable(() => lost.lastLost(topicId, range)),
    countRecords: (topicId, of) => mapUnavailable(() => lost.countRecords(topicId, of)),
    offsetAtTime: (topicId, time) => mapUnavailable(() => reads.offsetAtTime(topicId, time)),
    lastOffsets: (topicIds) =>
      mapUnavailable(() => new Map(topicIds.map((topicId) => [topicId, reads.lastOffset(topicId)]))),
    topicStats: (topicIds) => mapUnavailable(() => reads.topicStats(topicIds)),
  };
}

/** A separate thread, so that a page by index does not wait for a text search. */
function openReaders(path: string, workMsMax: number): Record<'pages' | 'texts' | 'plans', SqliteReader> {
  const searching = { path, workMsMax, tookTooLong: searchTookTooLong };
  return {
    pages: new SqliteReader({ ...searching, isLowPriority: false }),
    texts: new SqliteReader({ ...searching, isLowPriority: true }),
    plans: new SqliteReader({ path, workMsMax: planMsMax, tookTooLong: planTookTooLong, isLowPriority: true }),
  };
}

/** The port's reads of many messages, which run on other threads. */
function searchesOf(pages: SqliteReader, texts: SqliteReader): Pick<Messages, 'search' | 'recent' | 'activity'> {
  const readerFor = (filter: MessageFilter): SqliteReader => (filter.text === null ? pages : texts);
  return {
    search: async (filter, page) => {
      const { rows, total } = await readerFor(filter).run<FoundRows>({ kind: 'search', filter, page });
      return { messages: rows.map((row) => asManagersSee(toMessage(row, topicIdOf(row)), filter.now)), total };
    },
    recent: async (topicIds, page) => {
      const rows = await pages.run<TopicMessageRow[]>({ kind: 'recent', topicIds, page });
      return rows.map((row) => toMessage(row, topicIdOf(row)));
    },
    activity: (filter, bucketMs) => readerFor(filter).run({ kind: 'activity', filter, bucketMs }),
  };
}

/** The writes of sweeps, which invalidate cached data of the messages. */
function openRetention(
  file: SqliteFile,
  end: () => number,
  { recent, counts }: { recent: RecentMessages; counts: CountCache },
): Omit<Sweeps, 'plans'> {
  const removal = sqliteMessageRemoval(file, {
    end,
    onRemoved: (topicIds) => {
      recent.clear();
      for (const topicId of topicIds) counts.changed(topicId);
    },
  });
  const changeLifetime = sqliteLifetimes(file, (topicId, earliest) => {
    counts.changed(topicId);
    removal.onWritten(earliest);
  });
  return {
    removal,
    changeLifetime,
    redactDeleted: sqliteContentRemoval(file),
    forgetAccount: sqliteForgetAccount(file),
    reclaimSpace: sqliteFreePages(file),
  };
}

interface Sweeps {
  readonly plans: SqliteReader;
  readonly removal: SqliteMessageRemoval;
  readonly redactDeleted: Messages['redactDeleted'];
  readonly forgetAccount: Messages['forgetAccount'];
  readonly changeLifetime: Messages['changeLifetime'];
  readonly reclaimSpace: () => Promise<number>;
}

/** The port's methods for sweeps. Reads of many messages run on the planning thread. */
function sweepsOf({
  plans,
  removal,
  redactDeleted,
  forgetAccount,
  changeLifetime,
  reclaimSpace,
}: Sweeps): MessageRetention & Pick<SqliteMessages, 'reclaimSpace'> {
  return {
    reclaimSpace: () => mapUnavailable(reclaimSpace),
    changeLifetime: (topicId, of) => mapUnavailable(() => changeLifetime(topicId, of)),
    redactDeleted: (time, limit, except) => mapUnavailable(() => redactDeleted(time, limit, except)),
    forgetAccount: (accountId) => mapUnavailable(() => forgetAccount(accountId)),
    removeExpired: (time, limit, except) => mapUnavailable(() => removal.removeExpired(time, limit, except)),
    removeTopic: (topicId, limit) => mapUnavailable(() => removal.removeTopic(topicId, limit)),
    expired: (time, except = []) =>
      plans.run<ExpiredOfTopic[]>({ kind: 'expired', from: removal.expiredFrom(time, except), time, except }),
    countExpired: (time, of) => mapUnavailable(() => removal.countExpired(time, of)),
    oldestKept: async (topicIds, time) =>
      new Map(await plans.run<[string, number][]>({ kind: 'oldest-kept', topicIds, time })),
    held: async (topicId, page) =>
      (await plans.run<MessageRow[]>({ kind: 'held', topicId, page })).map((row) => toMessage(row, topicId)),
    expiredOf: async (topicId, page) =>
      (await plans.run<ExpiredMessageRow[]>({ kind: 'expired-of', topicId, page })).map((row) =>
        toExpired(row, topicId),
      ),
    removeInState: (topicId, of) => mapUnavailable(() => removal.removeInState(topicId, of)),
    recount: async (topicId) => {
      const drift = await plans.run<number>({ kind: 'count-drift', topicId });
      if (drift !== 0) await mapUnavailable(() => removal.addToCount(topicId, drift));
      return drift;
    },
  };
}

function toExpired(row: ExpiredMessageRow, topicId: string): ExpiredMessage {
  const message = toMessage(row, topicId);
  const { id, offset, deletedAt } = message;
  return { message, state: { id, offset, contentRev: row[13], deletedAt } };
}

/** Returns whether another connection has written to the file since the last call. */
function foreignCommitDetector(db: DatabaseSync): () => boolean {
  const dataVersion = db.prepare('PRAGMA data_version');
  let known: unknown;
  return () => {
    const before = known;
    known = dataVersion.get()!['data_version'];
    return known !== before;
  };
}

function isRecent(recent: RecentMessages, { offset, record }: PlacedRecord): boolean {
  return record.type === 'message' && recent.has(offset, record.message.id);
}

/** Returns the result of the call, or throws its error mapped to the port's errors. */
async function mapUnavailable<T>(call: () => T | Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw sqliteUnavailable(error);
  }
}

/**
 * Adds the previous offset: from the batch, or for a topic's first record of the batch from the file. That is a query,
 * so it runs only if the offset is read.
 */
function withPreviousOffsets(reads: SqliteMessageReads, records: readonly PlacedRecord[]): ReconciledRecord[] {
  const lastOffsets = new Map<string, number>();
  return records.map((placed) => {
    const { topicId } = placed.record.message;
    const previous = lastOffsets.get(topicId);
    lastOffsets.set(topicId, placed.offset);
    if (previous !== undefined) return { ...placed, previousOffset: previous };
    return {
      ...placed,
      get previousOffset() {
        return reads.previousOffset(topicId, placed.offset);
      },
    };
  });
}
