import type { Connection } from './connection.ts';
import type { Message } from './schemas.ts';
import { parseEvents } from './parse-events.ts';
import { readStream } from './read-stream.ts';
import { filterParameters, type TopicFilter } from './topic-filter.ts';

const changeTypes = ['message_edited', 'message_deleted', 'message_acknowledged', 'message_unacknowledged'] as const;

/** A message, or its state after a change. */
export interface MessageEvent {
  readonly type: 'message' | (typeof changeTypes)[number];
  readonly message: Message;
  /** Where to resume; null before the first message or connection. */
  readonly position: string | null;
}

/** The stream is open. */
export interface ReadyEvent {
  readonly type: 'ready';
  /** False if messages since the position may be lost; null for a stream without a position. */
  readonly recovered: boolean | null;
  readonly position: string | null;
}

/** Only messages that the filter left out came since the last event. */
export interface PositionEvent {
  readonly type: 'position';
  readonly position: string | null;
}

export type StreamEvent = MessageEvent | ReadyEvent | PositionEvent;

export interface SubscribeOptions {
  /** `all` stored messages, a message ID, or the `position` of an event. Absent: new messages only. */
  readonly since?: string;
  readonly filter?: TopicFilter;
  readonly signal?: AbortSignal;
}

/** Sorts before every message ID. */
const nilId = '00000000-0000-0000-0000-000000000000';

const isMessageType = (event: string): event is MessageEvent['type'] =>
  event === 'message' || (changeTypes as readonly string[]).includes(event);

/** Reads the stream of topics until the caller stops. Reconnects and resumes without gaps or duplicates. */
export function subscribe(
  connection: Connection,
  topics: readonly string[],
  { since, filter, signal }: SubscribeOptions,
): AsyncGenerator<StreamEvent, void> {
  let position = positionOf(topics, since);
  return readStream<StreamEvent>(connection, {
    accept: 'text/event-stream',
    isEndless: true,
    signal,
    path: () =>
      `/sse?${new URLSearchParams({
        topics: topics.join(','),
        ...filterParameters(filter),
        ...(position !== null && { since_id: position }),
      })}`,
    async *parse(texts) {
      for await (const { event, id, data } of parseEvents(texts)) {
        position = id ?? position;
        if (event === 'ready') {
          const { recovered } = JSON.parse(data) as { recovered?: boolean };
          yield { type: event, recovered: recovered ?? null, position };
        } else if (event === 'position') {
          yield { type: event, position };
        } else if (isMessageType(event)) {
          yield { type: event, message: JSON.parse(data) as Message, position };
        }
      }
    },
  });
}

/** A bare message ID applies to every topic. */
function positionOf(topics: readonly string[], since: string | undefined): string | null {
  if (since === undefined) return null;
  const id = since === 'all' ? nilId : since;
  return id.includes(':') ? id : topics.map((topic) => `${topic}:${id}`).join(',');
}
