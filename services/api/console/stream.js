import { call, session } from './session.js';

/** Stands for the beginning of a topic: a message that came before the stream was open is not missed. */
const beginning = '00000000-0000-0000-0000-000000000000';

const waitMinMs = 1_000;
const waitMaxMs = 30_000;

/**
 * Follows a topic from the message `lastId` on (null: from its beginning) until `closing` is aborted. `EventSource` connects
 * again by itself where it can; where the server refuses that (a session or a login has ended) a new stream begins after the
 * last message, later each time.
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
      else again();
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
      if (source.readyState === EventSource.CLOSED) again();
    });
  }

  function again() {
    onState('connecting …');
    setTimeout(connect, waitMs);
    waitMs = Math.min(waitMs * 2, waitMaxMs);
  }

  connect();
}

/** With a login by a session, so that no secret that is worth anything stands in an address. */
async function streamAddress(topic, lastId) {
  if (session() === null) return `/${encodeURIComponent(topic)}/sse?since_id=${lastId}`;
  const { session_id: id } = await call('POST', '/api/sse/sessions', {
    json: { topics: [topic], since_id: { [topic]: lastId } },
  });
  return `/sse?session=${encodeURIComponent(id)}`;
}
