import type { Caller } from '@tocsin/shared/domain/accounts/caller.ts';
import type { CredentialRef } from '@tocsin/shared/domain/accounts/credentials.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { MakeId } from '@tocsin/shared/platform/ids.ts';
import type { Config } from '@tocsin/shared/platform/load-config.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import type { History } from '@tocsin/shared/operations/messages/history.ts';
import { CompositePosition } from './composite-position.ts';
import type { Delivery } from './delivery.ts';
import type { OpenStreams, StreamOwner } from './open-streams.ts';
import { nilId, type Position } from './resolve-position.ts';
import type { EndReason, StreamSink } from './stream-sink.ts';
import { TopicCursor, type CursorStart } from './topic-cursor.ts';
import type { FeedUse, TopicFeeds } from './topic-feeds.ts';

/** A consumer that has this much waiting is dropped; it resumes by its last id. Harm prevented: its backlog in our memory. */
const bufferedBytesMax = 1024 * 1024;
/** History is read on only as far as the client takes it. */
const historyBytesMax = 256 * 1024;
const streamsPerAccount = 200;
const streamsPerAddress = 50;

/** What streams work with: a part of what the API's operations have. */
export interface StreamDeps {
  readonly clock: Clock;
  readonly config: Pick<Config, 'RATE_LIMITS'>;
  readonly feeds: Pick<TopicFeeds, 'use'>;
  readonly history: History;
  readonly log: Logger;
  readonly makeId: MakeId;
  readonly streams: OpenStreams;
}

export interface StreamTopic {
  readonly topic: Topic;
  /** Null starts live. */
  readonly position: Position | null;
  /** The id that the position was given by. */
  readonly positionId: string | null;
}

export interface StreamRequest {
  readonly caller: Caller;
  /** What the caller is known by; null for nobody. */
  readonly credential: CredentialRef | null;
  readonly topics: readonly StreamTopic[];
  /** Several topics on one stream: events carry the position of all of them. */
  readonly isComposite: boolean;
  /** Makes the client's end; called when nothing can refuse the stream any more. */
  readonly openSink: () => StreamSink;
  /** What `ready` says beside the connection id. */
  readonly ready: Readonly<Record<string, unknown>>;
  /** Null while the stream may go on; tells what it finds its topics to be now. */
  readonly judge: (onTopic: (topic: Topic) => void) => Promise<EndReason | null>;
}

/** Whose streams a caller's are, for the limits on open ones. */
export function streamOwner(caller: Caller): StreamOwner {
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
 * Opens a stream: `ready`, then what was published behind each position, in order, then live, without gap or repeat.
 * Throws before anything is sent: `limited` for too many open streams, `unavailable` while the store is away.
 */
export async function openStream(deps: StreamDeps, request: StreamRequest): Promise<void> {
  const owner = streamOwner(request.caller);
  const place = await deps.streams.reserve(deps.config.RATE_LIMITS ? owner : { ...owner, max: Infinity });
  let cursors: TopicCursor[] = [];
  let starts: Start[];
  let sink: StreamSink;
  try {
    const uses = await useAll(deps.feeds, request.topics);
    // They listen from here on: whatever they have not heard is in the store, which is asked next.
    cursors = request.topics.map(({ topic }, index) => new TopicCursor({ topic, use: uses[index]! }));
    starts = await Promise.all(request.topics.map((topic, index) => findStart(deps, topic, uses[index]!)));
    sink = request.openSink();
  } catch (error) {
    for (const cursor of cursors) cursor.close();
    place.release();
    throw error;
  }
  const stand = standOf(request, starts);
  sink.onClose(() => {
    for (const cursor of cursors) cursor.close();
  });
  deps.streams.add(place, {
    sink,
    caller: request.caller,
    credential: request.credential,
    topicIds: request.topics.map(({ topic }) => topic.id),
    judge: () => request.judge((topic) => stand.rename(topic)),
  });
  sink.ready({ ...request.ready, connection_id: deps.makeId() }, stand.line());
  await run(deps, { sink, cursors, starts, deliver: delivering(sink, stand) });
}

/** Where a topic of a stream starts, and the id that says so. */
interface Start extends CursorStart {
  readonly id: string;
}

/** All feeds, or none and the error. */
async function useAll(feeds: StreamDeps['feeds'], topics: readonly StreamTopic[]): Promise<FeedUse[]> {
  const outcomes = await Promise.allSettled(topics.map(({ topic }) => feeds.use(topic)));
  const uses = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed === undefined) return uses;
  for (const use of uses) use.release();
  throw failed.reason;
}

/** A position as it was given; without one behind the newest message, and whatever else happened until now. */
async function findStart(
  deps: StreamDeps,
  { topic, position, positionId }: StreamTopic,
  { feed }: FeedUse,
): Promise<Start> {
  if (position !== null) {
    if (position.expiresAt !== null)
      feed.notePlace(positionId!, { offset: position.after, expiresAt: position.expiresAt });
    const top = feed.reaches(position.after) ? feed.last : await deps.history.lastOffset(topic.id);
    return { after: position.after, mustRead: position.after < top, id: positionId! };
  }
  const last = await deps.history.lastOffset(topic.id);
  const known = feed.newestAt(last, deps.clock());
  const newest = known === undefined ? await deps.history.newestMessage(topic.id) : known;
  const after = Math.max(last, newest?.offset ?? -1);
  if (known === undefined) feed.noteNewest(after, newest);
  return { after, mustRead: false, id: newest?.id ?? nilId };
}

/** What a stream says of its place: the `id:` line of `ready`, and of messages where the message's own id does not say it all. */
interface Stand {
  readonly line: () => Buffer;
  /** The line to send with the delivery; undefined: its own id. */
  readonly moved: (delivery: Delivery) => Buffer | undefined;
  readonly rename: (topic: Topic) => void;
}

function standOf({ topics, isComposite }: StreamRequest, starts: readonly Start[]): Stand {
  if (!isComposite)
    return { line: () => Buffer.from(`id: ${starts[0]!.id}\n`), moved: () => undefined, rename: () => undefined };
  const position = new CompositePosition(
    topics.map(({ topic }, index) => ({ topicId: topic.id, name: topic.name, id: starts[index]!.id })),
  );
  return {
    line: () => position.line,
    moved(delivery) {
      position.rename(delivery.topicId, delivery.topicName);
      // Only messages move a position: a change carries no id.
      if (delivery.type !== 'message') return undefined;
      position.move(delivery.topicId, delivery.messageId);
      return position.line;
    },
    rename: (topic) => position.rename(topic.id, topic.name),
  };
}

/** Writes a delivery, or drops the client that does not take what it is given. */
function delivering(sink: StreamSink, stand: Stand): (delivery: Delivery) => void {
  return (delivery) => {
    if (sink.isClosed) return;
    if (sink.bufferedBytes > bufferedBytesMax) sink.end('too-slow');
    else sink.deliver(delivery, stand.moved(delivery));
  };
}

interface Run {
  readonly sink: StreamSink;
  readonly cursors: readonly TopicCursor[];
  readonly starts: readonly Start[];
  readonly deliver: (delivery: Delivery) => void;
}

/** Resolves once all topics are live. A stream whose history cannot be read ends; its client comes back for it. */
async function run(deps: StreamDeps, { sink, cursors, starts, deliver }: Run): Promise<void> {
  const end = {
    deliver,
    mustWait: () => sink.bufferedBytes > historyBytesMax,
    drained: () => sink.drained(),
    isClosed: () => sink.isClosed,
  };
  try {
    for (const [index, cursor] of cursors.entries()) await cursor.start(end, starts[index]!);
  } catch (error) {
    deps.log.warn({ err: error }, 'a stream ends because its history cannot be read now');
    sink.end('restart');
  }
}
