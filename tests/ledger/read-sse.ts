import { get, type IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { Collected, readerOver, type ReadMessage, type ReadOptions, type Reader } from './reader.ts';

const nilId = '00000000-0000-0000-0000-000000000000';
const reconnectMs = 50;

/** Reads `/{topic}/sse` from the topic's beginning as an EventSource would: reconnects with its last event id. */
export function readSse(options: ReadOptions): Reader {
  const collected = new Collected(options);
  const abort = new AbortController();
  let lastId = nilId;
  const done = (async () => {
    while (!abort.signal.aborted) {
      const url = options.urls[((options.first ?? 0) + collected.connections++) % options.urls.length]!;
      await readOnce(`${url}/${options.topic}/sse`, lastId, abort.signal, (event) => {
        if (event.type !== 'message') return;
        lastId = event.id;
        collected.add(JSON.parse(event.data) as ReadMessage);
      });
      await pause(reconnectMs);
    }
  })();
  return readerOver(collected, {
    name: `sse ${options.topic}`,
    topics: [options.topic],
    end: async () => {
      abort.abort();
      await done;
    },
  });
}

interface Event {
  readonly type: string;
  readonly id: string;
  readonly data: string;
}

/** Resolves when the connection ends, whatever ended it. */
function readOnce(url: string, lastId: string, signal: AbortSignal, onEvent: (event: Event) => void): Promise<void> {
  return new Promise((resolve) => {
    const request = get(url, { headers: { 'Last-Event-ID': lastId, Accept: 'text/event-stream' }, signal, agent: false }, (response: IncomingMessage) => {
      let buffered = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        buffered += chunk;
        const blocks = buffered.split('\n\n');
        buffered = blocks.pop()!;
        for (const event of blocks.map(parseEvent)) if (event.data !== '') onEvent(event);
      });
      response.on('close', () => resolve());
      response.on('error', () => resolve());
    });
    request.on('error', () => resolve());
  });
}

function parseEvent(block: string): Event {
  const fields = new Map(block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trimStart()]));
  return { type: fields.get('event') ?? 'message', id: fields.get('id') ?? '', data: fields.get('data') ?? '' };
}
