import type { Caller } from '@tocsin/shared/domain/accounts/caller.ts';
import type { CredentialRef } from '@tocsin/shared/domain/accounts/credentials.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { MakeId } from '@tocsin/shared/platform/ids.ts';
import type { Config } from '@tocsin/shared/platform/load-config.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import type { History } from '@tocsin/shared/operations/messages/history.ts';
import { within } from '@tocsin/shared/async/within.ts';
import type { ContentFilter } from '@tocsin/shared/domain/messages/content-filter.ts';
import { CompositePosition } from './composite-position.ts';
import type { Delivery } from './delivery.ts';
import type { StreamFilter, StreamFilters } from './filtering/stream-filters.ts';
import type { OpenStreams, StreamOwner, StreamSlot } from './open-streams.ts';
import { nilId, type Position } from './resolve-position.ts';
import type { StreamBudget } from './stream-budget.ts';
import type { EndReason, StreamSink } from './stream-sink.ts';
import { TopicCursor, type CursorEnd, type CursorStart } from './topic-cursor.ts';
import type { FeedUse, TopicFeeds } from './topic-feeds.ts';

/** Holds records back from a client with this much buffered, to limit memory. */
const bufferedBytesMax = 1024 * 1024;
/** The same while half of the node's budget is used. */
const bufferedBytesMaxAtHalf = 64 * 1024;
/** Disconnects a client that does not receive what is buffered within this time; it resumes by its last ID. */
const takenWithinMs = 10_000;
/** History is read only as fast as the client receives it. */
const historyBytesMax = 256 * 1024;
const streamsPerAccount = 200;
const streamsPerAddress = 50;

/** The dependencies of streams, a subset of those of the API's operations. */
export interface StreamDeps {
  readonly clock: Clock;
  readonly config: Pick<Config, 'RATE_LIMITS'>;
  readonly feeds: Pick<TopicFeeds, 'use'>;
  readonly history: History;
  readonly log: Logger;
  readonly makeId: MakeId;
  readonly streams: OpenStreams;
  readonly streamBudget: StreamBudget;
  readonly streamFilters: StreamFilters;
}

export interface StreamTopic {
  readonly topic: Topic;
  /** Null starts live. */
  readonly position: Position | null;
  /** The ID in the given position. */
  readonly positionId: string | null;
}

export interface StreamRequest {
  readonly caller: Caller;
  /** The caller's credential; null if anonymous. */
  readonly credential: CredentialRef | null;
  readonly topics: readonly StreamTopic[];
  /** The IDs of those that the caller manages; kept current by `authorize`. */
  readonly managedTopics: ReadonlySet<string>;
  /** Several topics on one stream: events contain the position of all topics. */
  readonly isComposite: boolean;
  /** Null sends all records. */
  readonly filter: ContentFilter | null;
  /** Creates the sink; called once the stream can no longer be refused. */
  readonly openSink: () => StreamSink;
  /** The fields of `ready` besides the connection ID. */
  readonly ready: Readonly<Record<string, unknown>>;
  /** Null while the stream may continue; reports the current topics. */
  readonly authorize: (onTopic: (topic: Topic) => void) => Promise<EndReason | null>;
}

/** Takes a slot of the caller's open streams. Throws `limited` if all are in use. */
export function reserveStream(
  { streams, config }: Pick<StreamDeps, 'streams' | 'config'>,
  caller: Caller,
): Promise<StreamSlot> {
  const owner = streamOwner(caller);
  return streams.reserve(config.RATE_LIMITS ? owner : { ...owner, max: Infinity });
}

/** The owner of the caller's streams, for the limits of open streams. */
function streamOwner(caller: Caller): StreamOwner {
  switch (caller.kind) {
    case 'anonymous':
      return { key: `streams:address:${caller.address}`, max: streamsPerAddress };
    case 'account':
      return { key: `streams:account:${caller.userId}`, max: streamsPerAccount };
    case 'topic-token':
      return { key: `streams:token:${caller.credentialId}`, max: streamsPerAccount };
  }
}

/**
 * Opens a stream: `ready`, then messages after each position in order, then live messages, without gaps or duplicates.
 * Throws before anything is sent: `limited` for too many open streams, `unavailable` if the store is down.
 */
export async function openStream(deps: StreamDeps, request: StreamRequest): Promise<void> {
  const slot = await reserveStream(deps, request.caller);
  let cursors: TopicCursor[] = [];
  let starts: Start[];
  let sink: StreamSink;
  try {
    const uses = await useAll(deps.feeds, request.topics);
    // The feeds listen from here on: earlier records are in the store, which is read next.
    cursors = request.topics.map(({ topic }, index) => new TopicCursor({ topic, use: uses[index]! }));
    starts = await Promise.all(request.topics.map((topic, index) => findStart(deps, topic, uses[index]!)));
    sink = request.openSink();
  } catch (error) {
    for (const cursor of cursors) cursor.close();
    slot.release();
    throw error;
  }
  const sent = sentPositionOf(request, starts);
  const filter = request.filter === null ? null : deps.streamFilters.use(request.filter);
  sink.onClose(() => {
    for (const cursor of cursors) cursor.close();
    filter?.release();
  });
  deps.streams.add(slot, {
    sink,
    caller: request.caller,
    credential: request.credential,
    topicIds: request.topics.map(({ topic }) => topic.id),
    ping: pingWith(sink, sent),
    authorize: authorizeWith(request.authorize, sent),
  });
  sink.ready({ ...request.ready, connection_id: deps.makeId() }, sent.id());
  const { managedTopics } = request;
  const deliver = (delivery: Delivery) =>
    sink.deliver(delivery.as(managedTopics.has(delivery.topicId) ? 'manager' : 'reader'), sent.moved(delivery));
  await run(deps, { sink, cursors, starts, deliver: filter === null ? deliver : filtered(filter, deliver, sent) });
}

type Deliver = (delivery: Delivery) => void;

/** Records that the filter leaves out only move the position. */
function filtered(filter: StreamFilter, deliver: Deliver, sent: SentPosition): Deliver {
  return (delivery) => {
    if (filter.passes(delivery)) deliver(delivery);
    else if (delivery.type === 'message') sent.pass(delivery);
  };
}

/** Before a ping, tells the client how far the stream has come, if nothing that it got says so. */
const pingWith = (sink: StreamSink, sent: SentPosition) => () => {
  const id = sent.takePassed();
  if (id !== null) sink.position(id);
  sink.ping();
};

/** A closure of `openStream` would retain the request with its headers. */
const authorizeWith = (authorize: StreamRequest['authorize'], sent: SentPosition) => () => authorize(sent.rename);

/** The start of a topic on a stream, with the ID of the position. */
interface Start extends CursorStart {
  readonly id: string;
}

/** Returns all feeds, or releases them and throws. */
async function useAll(feeds: StreamDeps['feeds'], topics: readonly StreamTopic[]): Promise<FeedUse[]> {
  const outcomes = await Promise.allSettled(topics.map(({ topic }) => feeds.use(topic)));
  const uses = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed === undefined) return uses;
  for (const use of uses) use.release();
  throw failed.reason;
}

/** Returns the given position; without one the position after the newest message and change. */
async function findStart(
  deps: StreamDeps,
  { topic, position, positionId }: StreamTopic,
  { feed }: FeedUse,
): Promise<Start> {
  if (position !== null) {
    if (position.expiresAt !== null)
      feed.notePlace(positionId!, { offset: position.after, expiresAt: position.expiresAt });
    return { after: position.after, mustRead: position.after < feed.last, id: positionId! };
  }
  const last = await deps.history.lastOffset(topic.id);
  const known = feed.newestAt(last, deps.clock());
  const newest = known === undefined ? await deps.history.newestMessage(topic.id) : known;
  const after = Math.max(last, newest?.offset ?? -1);
  if (known === undefined) feed.noteNewest(after, newest);
  return { after, mustRead: false, id: newest?.id ?? nilId };
}

/** The position that a stream sends: with `ready`, and with messages if their own ID does not suffice. */
interface SentPosition {
  readonly id: () => string;
  /** The position to send with the delivery; undefined means its own ID. */
  readonly moved: (delivery: Delivery) => string | undefined;
  /** Moves past a message that the client does not get. */
  readonly pass: (delivery: Delivery) => void;
  /** Returns the position if it moved past such messages since the client was last sent one, otherwise null. */
  readonly takePassed: () => string | null;
  readonly rename: (topic: Topic) => void;
}

function sentPositionOf({ topics, isComposite }: StreamRequest, starts: readonly Start[]): SentPosition {
  return isComposite ? positionOfTopics(topics, starts) : positionOfTopic(starts[0]!);
}

function positionOfTopic({ id }: Start): SentPosition {
  let passed: string | null = null;
  return {
    id: () => id,
    moved({ type }) {
      if (type === 'message') passed = null;
      return undefined;
    },
    pass: ({ messageId }) => (passed = messageId),
    takePassed() {
      const taken = passed;
      passed = null;
      return taken;
    },
    rename: () => undefined,
  };
}

function positionOfTopics(topics: StreamRequest['topics'], starts: readonly Start[]): SentPosition {
  const position = new CompositePosition(
    topics.map(({ topic }, index) => ({ topicId: topic.id, name: topic.name, id: starts[index]!.id })),
  );
  /** The newest message of each topic that was passed and is not part of the position yet. */
  const passed = new Map<string, string>();
  const movePassed = () => {
    for (const [topicId, messageId] of passed) position.move(topicId, messageId);
    passed.clear();
  };
  return {
    id: () => position.id,
    moved({ type, topicId, topicName, messageId }) {
      position.rename(topicId, topicName);
      // Only messages move a position: changes have no ID.
      if (type !== 'message') return undefined;
      if (passed.size > 0) movePassed();
      position.move(topicId, messageId);
      return position.id;
    },
    pass: ({ topicId, messageId }) => void passed.set(topicId, messageId),
    takePassed() {
      if (passed.size === 0) return null;
      movePassed();
      return position.id;
    },
    rename: (topic) => position.rename(topic.id, topic.name),
  };
}

interface Run {
  readonly sink: StreamSink;
  readonly cursors: readonly TopicCursor[];
  readonly starts: readonly Start[];
  readonly deliver: Deliver;
}

/** Resolves once all topics are live. If history cannot be read, the stream ends and its client reconnects. */
async function run(deps: StreamDeps, { sink, cursors, starts, deliver }: Run): Promise<void> {
  const fail = (error: unknown) => {
    deps.log.warn({ err: error }, 'history unreadable, ending a stream');
    sink.end('restart');
  };
  const { streamBudget } = deps;
  const share = streamBudget.join(sink);
  const isOver = (bytesMax: number) =>
    sink.bufferedBytes > (streamBudget.isHalfUsed ? Math.min(bufferedBytesMaxAtHalf, bytesMax) : bytesMax);
  const end: CursorEnd = {
    deliver: (delivery) => {
      if (sink.isClosed) return;
      deliver(delivery);
      share.written();
    },
    keep: (bytes) => share.keep(bytes),
    mayKeep: () => !streamBudget.isHalfUsed,
    isFull: () => isOver(bufferedBytesMax),
    mustWait: () => isOver(historyBytesMax),
    drained: () => within(takenWithinMs, 'the client', sink.drained()).catch(() => sink.end('too-slow')),
    isClosed: () => sink.isClosed,
    fail,
  };
  try {
    for (const [index, cursor] of cursors.entries()) await cursor.start(end, starts[index]!);
  } catch (error) {
    fail(error);
  }
}
