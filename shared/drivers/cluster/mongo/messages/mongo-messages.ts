import type { Connection } from 'mongoose';
import { unavailable, type AppError } from '../../../../domain/errors.ts';
import type { Clock } from '../../../../platform/clock.ts';
import type { Logger } from '../../../../platform/logger.ts';
import { TookTooLong, within } from '../../../../async/within.ts';
import type { Messages } from '../../../../ports/messages/messages.ts';
import { planTookTooLong } from '../../../../ports/messages/plan-limit.ts';
import { searchMsMax, searchTookTooLong } from '../../../../ports/messages/search-limit.ts';
import { mapUnavailable } from '../mongo-connection.ts';
import { throughElection } from '../mongo-election.ts';
import { prepareMessageCollections, toMessage } from './mongo-message-collections.ts';
import { extremeOffset } from './mongo-offset-range.ts';
import {
  countAfterEach,
  findMessages,
  messagesAfter,
  newestMessages,
  newestOfEach,
  timesAfterEach,
  topicRecords,
} from './mongo-message-reads.ts';
import { mongoMessageIngest } from './mongo-message-ingest.ts';
import { countRecordsFrom, lastLostOffset } from './mongo-lost-records.ts';
import { forgetAccount } from './mongo-forget-account.ts';
import { mongoMessageRemoval } from './mongo-message-removal.ts';
import {
  changeLifetimes,
  countExpiredMessages,
  expiredMessages,
  expiredMessagesOf,
  heldMessages,
  oldestKeptOf,
  recountTopic,
} from './mongo-retention-reads.ts';
import { countActivity, recentMessages, searchMessages } from './mongo-message-search.ts';
import { lastOffsetsOf, topicStatsOf } from './mongo-topic-counts.ts';

export interface MongoMessagesOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly log: Logger;
  /** Time limit of a search. */
  readonly searchMsMax?: number;
}

/** The port's time limit of a ping. */
const pingTimeoutMs = 1_900;

/**
 * The message store of a cluster. Creates its collections and indexes first. Writes are acknowledged by the majority,
 * and reads use the primary, except for the watermark. `close` leaves the connection open.
 */
export async function openMongoMessages({
  connection,
  clock,
  log,
  searchMsMax: maxTimeMS = searchMsMax,
}: MongoMessagesOptions): Promise<Messages> {
  const collections = await mapUnavailable(() => prepareMessageCollections(connection)).catch((error: unknown) => {
    log.error({ err: error }, 'the message collections could not be created');
    throw error;
  });
  const ingest = mongoMessageIngest(connection, collections, { clock, log });
  const removal = mongoMessageRemoval(connection, collections);
  const searched = { ...collections, limits: { maxTimeMS } };
  const { messages, changes } = collections;
  return {
    ...ingest,
    find: (messageId) =>
      mapUnavailable(async () => {
        const found = await throughElection(() => messages.findOne({ _id: messageId, offset: { $gte: 0 } }));
        return found === null ? null : toMessage(found);
      }),
    findMany: (messageIds) => mapUnavailable(() => findMessages(collections, messageIds)),
    newest: (topicId, page) => mapUnavailable(() => newestMessages(collections, topicId, page)),
    newestOfEach: (topicIds, now) => mapUnavailable(() => newestOfEach(collections, topicIds, now)),
    after: (topicId, page) => mapUnavailable(() => messagesAfter(collections, topicId, page)),
    records: (topicId, page) => mapUnavailable(() => topicRecords(collections, topicId, page)),
    lastLost: (topicId, range) => mapUnavailable(() => lastLostOffset(collections, topicId, range)),
    countRecords: (topicId, of) => mapUnavailable(() => countRecordsFrom(collections, topicId, of)),
    offsetAtTime: (topicId, time) =>
      mapUnavailable(() => extremeOffset([messages, changes], topicId, { time, direction: 1 })),
    lastOffsets: (topicIds) => mapUnavailable(() => lastOffsetsOf(collections, topicIds)),
    topicStats: (topicIds) => mapUnavailable(() => topicStatsOf(collections, topicIds)),
    countAfter: (marks, page) => mapUnavailable(() => countAfterEach(collections, marks, page)),
    timesAfter: (marks, page) => mapUnavailable(() => timesAfterEach(collections, marks, page)),
    search: (filter, page) => limited(() => searchMessages(searched, filter, page)),
    recent: (topicIds, page) => limited(() => recentMessages(searched, topicIds, page)),
    activity: (filter, bucketMs) => limited(() => countActivity(searched, filter, bucketMs)),
    redactDeleted: (time, limit, except) => mapUnavailable(() => removal.redactDeleted(time, limit, except)),
    removeExpired: (time, limit, except) => mapUnavailable(() => removal.removeExpired(time, limit, except)),
    changeLifetime: (topicId, of) => mapUnavailable(() => changeLifetimes(collections, topicId, of)),
    expired: (time, except) => planned(() => expiredMessages(collections, time, except)),
    countExpired: (time, of) => planned(() => countExpiredMessages(collections, time, of)),
    oldestKept: (topicIds, time) => planned(() => oldestKeptOf(collections, topicIds, time)),
    expiredOf: (topicId, page) => planned(() => expiredMessagesOf(collections, topicId, page)),
    removeInState: (topicId, of) => mapUnavailable(() => removal.removeInState(topicId, of)),
    held: (topicId, page) => planned(() => heldMessages(collections, topicId, page)),
    forgetAccount: (accountId) => mapUnavailable(() => forgetAccount(collections, accountId)),
    recount: (topicId) => mapUnavailable(() => recountTopic(connection, collections, topicId)),
    removeTopic: (topicId, limit) => mapUnavailable(() => removal.removeTopic(topicId, limit)),
    ping: () => mapUnavailable(() => pingPrimary(connection)),
  };
}

/** Limits the ping, which a silent server would block until the connection closes. */
async function pingPrimary(connection: Connection): Promise<void> {
  await within(pingTimeoutMs, 'MongoDB’s answer', connection.db!.command({ ping: 1 })).catch((error: unknown) => {
    throw error instanceof TookTooLong ? unavailable('Database', error) : error;
  });
}

/** MongoDB's code for an operation that exceeded its `maxTimeMS`. */
const timeLimitExceeded = 50;

/** Like `mapUnavailable`, but maps an exceeded time limit to an error with a remedy. */
function withinTimeLimit<T>(tookTooLong: (cause: unknown) => AppError, call: () => Promise<T>): Promise<T> {
  return mapUnavailable(() =>
    call().catch((error: unknown) => {
      throw (error as { code?: unknown }).code === timeLimitExceeded ? tookTooLong(error) : error;
    }),
  );
}

const limited = <T>(call: () => Promise<T>): Promise<T> => withinTimeLimit(searchTookTooLong, call);
const planned = <T>(call: () => Promise<T>): Promise<T> => withinTimeLimit(planTookTooLong, call);
