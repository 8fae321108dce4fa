import type { Caller } from '@tocsin/shared/domain/caller.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { Topic } from '@tocsin/shared/domain/topic.ts';
import type { MakeId } from '@tocsin/shared/platform/ids.ts';
import type { Config } from '@tocsin/shared/platform/load-config.ts';
import type { Log } from '@tocsin/shared/platform/log.ts';
import type { History } from '@tocsin/shared/stores/history.ts';
import type { Delivery } from './delivery.ts';
import type { OpenStream, OpenStreams } from './open-streams.ts';
import { nilId, type Position } from './resolve-position.ts';
import type { EndReason, StreamSink } from './stream-sink.ts';
import { TopicCursor } from './topic-cursor.ts';
import type { FeedUse, TopicFeeds } from './topic-feeds.ts';

/** A consumer that has this much waiting is dropped; it resumes by its last id. Harm prevented: its backlog in our memory. */
const bufferedBytesMax = 1024 * 1024;
/** History is read on only as far as the client takes it. */
const historyBytesMax = 256 * 1024;
const streamsPerAccount = 200;
const streamsPerAddress = 50;

/** What streams work with: a part of what the API's operations have. */
export interface StreamDeps {
  readonly config: Pick<Config, 'RATE_LIMITS'>;
  readonly feeds: TopicFeeds;
  readonly history: History;
  readonly log: Log;
  readonly makeId: MakeId;
  readonly streams: OpenStreams;
}

export interface StreamTopic {
  readonly topic: Topic;
  /** Null starts live. */
  readonly position: Position | null;
  /** The id behind the position, for the composite position of a stream of several topics. */
  readonly positionId: string | null;
}

export interface StreamRequest {
  readonly caller: Caller;
  readonly topics: readonly StreamTopic[];
  /** Several topics on one stream: events carry the position of all of them. */
  readonly isComposite: boolean;
  /** Makes the client's end; called when nothing can refuse the stream any more. */
  readonly openSink: () => StreamSink;
  /** What `ready` says beside the connection id. */
  readonly ready: Readonly<Record<string, unknown>>;
  readonly judge: () => Promise<EndReason | null>;
}

/** Whose streams a caller's are, for the limits on open ones. */
function ownerOf(caller: Caller): { key: string; max: number } {
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
  const owner = ownerOf(request.caller);
  if (deps.config.RATE_LIMITS && await deps.streams.countOf(owner.key) >= owner.max) {
    throw new AppError('limited', 'Too many open streams', { retryAfterSeconds: 5 });
  }
  const uses = await useAll(deps, request.topics);
  const sink = request.openSink();
  const stream: OpenStream = {
    sink, ownerKey: owner.key, caller: request.caller, topicIds: request.topics.map(({ topic }) => topic.id), judge: request.judge,
  };
  const deliver = delivering(request, sink);
  const cursors = request.topics.map(({ topic, position }, index) => new TopicCursor({
    topic, use: uses[index]!, history: deps.history, position,
    deliver: (delivery) => deliver(topic.name, delivery),
    mustWait: () => sink.bufferedBytes > historyBytesMax,
    drained: () => sink.drained(),
    isClosed: () => sink.isClosed,
  }));
  sink.onClose(() => {
    for (const cursor of cursors) cursor.close();
  });
  deps.streams.add(stream);
  sink.ready({ ...request.ready, connection_id: deps.makeId() });
  try {
    for (const cursor of cursors) await cursor.start();
  } catch (error) {
    deps.log.warn({ err: error }, 'a stream ends because its history cannot be read now');
    sink.end('restart');
  }
}

async function useAll(deps: StreamDeps, topics: readonly StreamTopic[]): Promise<FeedUse[]> {
  const uses: FeedUse[] = [];
  try {
    for (const { topic } of topics) uses.push(await deps.feeds.use(topic));
    return uses;
  } catch (error) {
    for (const use of uses) use.release();
    throw error;
  }
}

/** Writes a delivery, or drops the client that does not take what it is given. */
function delivering(request: StreamRequest, sink: StreamSink): (topicName: string, delivery: Delivery) => void {
  const seen = new Map(request.topics.map(({ topic, positionId }) => [topic.name, positionId ?? nilId]));
  return (topicName, delivery) => {
    if (sink.isClosed) return;
    if (sink.bufferedBytes > bufferedBytesMax) {
      sink.end('too-slow');
      return;
    }
    // Only messages move a position: a change carries no id.
    if (!request.isComposite || delivery.type !== 'message') {
      sink.deliver(delivery, undefined);
      return;
    }
    seen.set(topicName, delivery.messageId);
    sink.deliver(delivery, [...seen].map(([name, id]) => `${name}:${id}`).join(','));
  };
}
