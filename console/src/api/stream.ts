import { call, CallFailed } from './call.ts';
import { session } from './session.ts';
import type { Message } from './wire.ts';

/** Sorts before every message ID: the stream starts at the beginning of the topic, so no message is missed. */
const beginning = '00000000-0000-0000-0000-000000000000';

const waitMinMs = 1_000;
const waitMaxMs = 30_000;

export type ConnectionState = 'connecting' | 'live' | 'reconnecting' | 'ended';

export interface StreamEvents {
  /** `reason` explains why the stream ended. */
  onState(state: ConnectionState, reason?: string): void;
  onMessage(message: Message): void;
  /** The message was edited, acknowledged, or its acknowledgement was withdrawn. */
  onChanged(message: Message): void;
  onDeleted(message: Message): void;
}

/**
 * Follows topics, each after its message in `after` (null: from its beginning; absent: new messages only), until the
 * returned function is called. EventSource reconnects and resumes automatically. If the server rejects that (expired
 * session or login), opens a new stream after the last messages, with exponential backoff.
 */
export function openStream(
  topics: readonly string[],
  after: Readonly<Record<string, string | null>>,
  events: StreamEvents,
): () => void {
  const last = Object.fromEntries(Object.entries(after).map(([topic, id]) => [topic, id ?? beginning]));
  let waitMs = waitMinMs;
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isClosed = false;

  async function connect(): Promise<void> {
    try {
      const address = await streamAddress(topics, last);
      if (isClosed) return;
      source = listen(new EventSource(address));
    } catch (error) {
      if (isClosed) return;
      if (error instanceof CallFailed && [401, 403, 404].includes(error.status)) events.onState('ended', error.message);
      else reconnect();
    }
  }

  function listen(opened: EventSource): EventSource {
    const on = (type: string, handle: (message: Message) => void) =>
      opened.addEventListener(type, (event) => handle(JSON.parse((event as MessageEvent<string>).data) as Message));
    opened.addEventListener('ready', () => {
      waitMs = waitMinMs;
      events.onState('live');
    });
    on('message', (message) => {
      if (message.topic in last || topics.length === 1)
        last[topics.length === 1 ? topics[0]! : message.topic] = message.id;
      events.onMessage(message);
    });
    for (const change of ['message_edited', 'message_acknowledged', 'message_unacknowledged'])
      on(change, events.onChanged);
    on('message_deleted', events.onDeleted);
    opened.addEventListener('error', () => {
      if (isClosed) return;
      events.onState('reconnecting');
      if (opened.readyState === EventSource.CLOSED) reconnect();
    });
    return opened;
  }

  function reconnect(): void {
    events.onState('reconnecting');
    timer = setTimeout(() => void connect(), waitMs);
    waitMs = Math.min(waitMs * 2, waitMaxMs);
  }

  events.onState('connecting');
  void connect();
  return () => {
    isClosed = true;
    clearTimeout(timer);
    source?.close();
  };
}

/** Uses a stream session for logged-in users, so that the URL contains no credential. */
async function streamAddress(topics: readonly string[], last: Readonly<Record<string, string>>): Promise<string> {
  if (session.value === null) {
    const [topic] = topics;
    return `/${encodeURIComponent(topic!)}/sse?since_id=${last[topic!] ?? beginning}`;
  }
  const created = await call<{ session_id: string }>('POST', '/api/sse/sessions', { json: { topics, since_id: last } });
  return `/sse?session=${encodeURIComponent(created.session_id)}`;
}
