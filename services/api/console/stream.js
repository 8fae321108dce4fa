import { call, session } from './session.js';

/** Sorts before every message ID: the stream starts at the beginning of the topic, so no message is missed. */
const beginning = '00000000-0000-0000-0000-000000000000';

const waitMinMs = 1_000;
const waitMaxMs = 30_000;

/**
 * Follows a topic after the message `lastId` (null: from its beginning) until `closing` is aborted. `EventSource`
 * reconnects automatically. If the server rejects that (expired session or login), opens a new stream after the last
 * message, with exponential backoff.
 */
export function openStream(topic, lastId, closing, { onState, onMessage, onEdited, onDeleted }) {
  let waitMs = waitMinMs;
  let source = null;
  let last = lastId;
  closing.addEventListener('abort', () => source?.close());

  async function connect() {
    if (closing.aborted) return;
    try {
      const address = await streamAddress(topic, last ?? beginning);
      if (closing.aborted) return;
      source = new EventSource(address);
    } catch (error) {
      if ([401, 403, 404].includes(error.status)) onState(`ended: ${error.message}`);
      else reconnect();
      return;
    }
    source.addEventListener('ready', () => {
      waitMs = waitMinMs;
      onState('live');
    });
    source.addEventListener('message', ({ data }) => {
      const message = JSON.parse(data);
      last = message.id;
      onMessage(message);
    });
    source.addEventListener('message_edited', ({ data }) => onEdited(JSON.parse(data)));
    source.addEventListener('message_deleted', ({ data }) => onDeleted(JSON.parse(data)));
    source.addEventListener('error', () => {
      onState('connecting …');
      if (source.readyState === EventSource.CLOSED) reconnect();
    });
  }

  function reconnect() {
    onState('connecting …');
    setTimeout(connect, waitMs);
    waitMs = Math.min(waitMs * 2, waitMaxMs);
  }

  connect();
}

/** Uses a stream session for logged-in users, so that the URL contains no credential. */
async function streamAddress(topic, lastId) {
  if (session() === null) return `/${encodeURIComponent(topic)}/sse?since_id=${lastId}`;
  const { session_id: id } = await call('POST', '/api/sse/sessions', {
    json: { topics: [topic], since_id: { [topic]: lastId } },
  });
  return `/sse?session=${encodeURIComponent(id)}`;
}
