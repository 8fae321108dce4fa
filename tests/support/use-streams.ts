import { get, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { afterEach, expect } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { WebSocket } from 'ws';
import { newAddress, testStack } from './stack.ts';

/* oxlint-disable typescript/no-explicit-any -- a test asserts what it finds */

export interface StreamEvent {
  readonly type: string;
  /** SSE: the `id:` of the event. */
  readonly id?: string;
  /** The parsed JSON; '' for an event without data. */
  readonly data: any;
}

/** An open stream from the client's view, for SSE and WebSocket. */
export interface ClientStream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The JSON of the refusal. */
  readonly body: any;
  readonly events: readonly StreamEvent[];
  /** SSE: all received events. */
  readonly text: () => string;
  /** The data of `ready`. */
  ready(): Promise<any>;
  /** The ID of `ready`. */
  readyId(): Promise<string>;
  /** The texts of the messages, once this number has arrived. */
  texts(count: number): Promise<string[]>;
  ofType(type: string): readonly StreamEvent[];
  /** Resolves with the time when the server ends it and the WebSocket's close code. */
  readonly ended: Promise<{ at: number; code: number }>;
  close(): void;
}

export interface OpenOptions {
  readonly headers?: Record<string, string>;
  readonly token?: string | undefined;
  /** Which API node; the first by default. */
  readonly node?: number;
  /** A new address by default. */
  readonly address?: string;
}

export type Transport = 'sse' | 'ws';
export const transports: readonly Transport[] = ['sse', 'ws'];

export interface StreamsUse {
  sse(path: string, options?: OpenOptions): Promise<ClientStream>;
  ws(path: string, options?: OpenOptions): Promise<ClientStream>;
  /** An optional `/topic`, then the last segment of the transport. */
  open(transport: Transport, of: { topic?: string; query?: string }, options?: OpenOptions): Promise<ClientStream>;
}

/** Opens streams, and closes them after the test. `urls` is the installation, the shared stack by default. */
export function useStreams(urls: () => readonly string[] = () => testStack().urls): StreamsUse {
  const open: ClientStream[] = [];
  afterEach(() => {
    for (const stream of open.splice(0)) stream.close();
  });
  const keep = async (opening: Promise<ClientStream>) => {
    const stream = await opening;
    open.push(stream);
    return stream;
  };
  const urlOf = ({ node = 0 }: OpenOptions) => urls()[node % urls().length]!;
  const sse = (path: string, options: OpenOptions = {}) => keep(openSse(urlOf(options) + path, headersOf(options)));
  const ws = (path: string, options: OpenOptions = {}) =>
    keep(openWs(urlOf(options).replace('http', 'ws') + path, headersOf(options)));
  return {
    sse,
    ws,
    open: (transport, { topic, query = '' }, options) =>
      (transport === 'sse' ? sse : ws)(`${topic === undefined ? '' : `/${topic}`}/${transport}${query}`, options),
  };
}

function headersOf({ headers, token, address }: OpenOptions): Record<string, string> {
  return {
    'X-Forwarded-For': address ?? newAddress(),
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    ...headers,
  };
}

function clientStream(of: Omit<ClientStream, 'ready' | 'readyId' | 'texts' | 'ofType'>): ClientStream {
  const ofType = (type: string) => of.events.filter((event) => event.type === type);
  return {
    ...of,
    ofType,
    ready: () => eventually(() => ofType('ready')[0]?.data ?? false),
    readyId: () => eventually(() => ofType('ready')[0]?.id ?? false),
    async texts(count) {
      await eventually(() => expect(ofType('message').length).toBeGreaterThanOrEqual(count));
      return ofType('message').map(({ data }) => data.message as string);
    },
  };
}

async function openSse(url: string, headers: Record<string, string>): Promise<ClientStream> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { agent: false, headers }, resolve).on('error', reject);
  });
  const events: StreamEvent[] = [];
  let text = '';
  let read = 0;
  response
    .setEncoding('utf8')
    .on('error', () => undefined)
    .on('data', (chunk: string) => {
      text += chunk;
      for (let end = text.indexOf('\n\n', read); end >= 0; end = text.indexOf('\n\n', read)) {
        const event = parseEvent(text.slice(read, end));
        if (event !== undefined) events.push(event);
        read = end + 2;
      }
    });
  const ended = new Promise<{ at: number; code: number }>((resolve) =>
    response.on('close', () => resolve({ at: performance.now(), code: 0 })),
  );
  const status = response.statusCode!;
  if (status !== 200) await ended;
  return clientStream({
    status,
    headers: response.headers,
    events,
    text: () => text,
    ended,
    body: status === 200 ? undefined : JSON.parse(text),
    close: () => response.destroy(),
  });
}

function parseEvent(block: string): StreamEvent | undefined {
  const fields = new Map(
    block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trimStart()]),
  );
  const data = fields.get('data');
  if (data === undefined) return undefined;
  const id = fields.get('id');
  return {
    type: fields.get('event') ?? 'message',
    data: data === '' ? '' : JSON.parse(data),
    ...(id === undefined ? {} : { id }),
  };
}

function openWs(url: string, headers: Record<string, string>): Promise<ClientStream> {
  const socket = new WebSocket(url, { headers });
  const events: StreamEvent[] = [];
  socket.on('message', (frame: Buffer) => {
    const { type, ...data } = JSON.parse(frame.toString()) as { type: string };
    events.push({ type, data });
  });
  const ended = new Promise<{ at: number; code: number }>((resolve) =>
    socket.once('close', (code) => resolve({ at: performance.now(), code })),
  );
  const of = { events, text: () => '', ended, close: () => socket.terminate() };
  return new Promise((resolve, reject) => {
    let answered: IncomingHttpHeaders = {};
    socket.on('upgrade', ({ headers: sent }) => (answered = sent));
    socket.once('open', () => resolve(clientStream({ ...of, status: 101, headers: answered, body: undefined })));
    socket.once('unexpected-response', (_request, response) => {
      let text = '';
      response
        .setEncoding('utf8')
        .on('data', (chunk: string) => (text += chunk))
        .on('end', () => {
          resolve(
            clientStream({ ...of, status: response.statusCode!, headers: response.headers, body: JSON.parse(text) }),
          );
        });
    });
    socket.on('error', (error) => (socket.readyState === socket.CONNECTING ? reject(error) : undefined));
  });
}

/** The response to `HEAD`. */
export function head(
  url: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: IncomingHttpHeaders }> {
  return new Promise((resolve, reject) => {
    httpRequest(
      url,
      { method: 'HEAD', agent: false, headers: { 'X-Forwarded-For': newAddress(), ...headers } },
      (response) => {
        response.resume().on('close', () => resolve({ status: response.statusCode!, headers: response.headers }));
      },
    )
      .on('error', reject)
      .end();
  });
}
