import { get, type IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { Collected, nilId, readerOver, type ReadMessage, type ReadOptions, type StreamReader } from './reader.ts';

const reconnectMs = 50;

/** Reads `/{topic}/sse` like an EventSource: reconnects with the last event ID. */
export function readSse(options: ReadOptions): StreamReader {
  const collected = new Collected(options);
  const abort = new AbortController();
  const ends: string[] = [];
  const resumesMs: number[] = [];
  let lastId = options.sinceId ?? nilId;
  let response: IncomingMessage | undefined;
  const done = (async () => {
    while (!abort.signal.aborted) {
      const url = options.urls[((options.first ?? 0) + collected.connections++) % options.urls.length]!;
      let askedAt: number | undefined = performance.now();
      const end = await readOnce(
        { url: `${url}/${options.topic}/sse`, lastId, headers: options.headers, signal: abort.signal },
        {
          onOpen: (opened) => (response = opened),
          onEvent: (event) => {
            if (event.type !== 'message') return;
            lastId = event.id;
            if (askedAt !== undefined) resumesMs.push(performance.now() - askedAt);
            askedAt = undefined;
            collected.add(JSON.parse(event.data) as ReadMessage);
          },
        },
      );
      if (!abort.signal.aborted) ends.push(end);
      await pause(reconnectMs);
    }
  })();
  const reader = readerOver(collected, {
    name: `sse ${options.topic}`,
    topics: [options.topic],
    end: async () => {
      abort.abort();
      await done;
    },
  });
  return Object.assign(reader, {
    ends,
    resumesMs,
    pause: () => void response?.pause(),
    resume: () => void response?.resume(),
    socket: () => response?.socket,
  });
}

interface Event {
  readonly type: string;
  readonly id: string;
  readonly data: string;
}

interface Opening {
  readonly url: string;
  readonly lastId: string;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly signal: AbortSignal;
}

/** Resolves with the way in which the connection ended. */
function readOnce(
  { url, lastId, headers, signal }: Opening,
  to: { onOpen: (response: IncomingMessage) => void; onEvent: (event: Event) => void },
): Promise<'end' | 'cut off'> {
  return new Promise((resolve) => {
    const request = get(
      url,
      { headers: { 'Last-Event-ID': lastId, Accept: 'text/event-stream', ...headers }, signal, agent: false },
      (response: IncomingMessage) => {
        to.onOpen(response);
        let buffered = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          buffered += chunk;
          const blocks = buffered.split('\n\n');
          buffered = blocks.pop()!;
          for (const event of blocks.map(parseEvent)) if (event.data !== '') to.onEvent(event);
        });
        response.on('close', () => resolve(response.complete ? 'end' : 'cut off'));
        response.on('error', () => undefined); // the following close is handled instead
      },
    );
    request.on('error', () => resolve('cut off'));
  });
}

function parseEvent(block: string): Event {
  const fields = new Map(
    block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trimStart()]),
  );
  return { type: fields.get('event') ?? 'message', id: fields.get('id') ?? '', data: fields.get('data') ?? '' };
}
