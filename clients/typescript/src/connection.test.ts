import { createServer, type RequestListener } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { Connection, type ClientOptions } from './connection.ts';
import { parseEvents } from './parse-events.ts';
import { readStream } from './read-stream.ts';

let close: () => void = () => undefined;
afterEach(() => close());

async function serve(listener: RequestListener, options: Partial<ClientOptions> = {}): Promise<Connection> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  close = () => {
    server.closeAllConnections();
    server.close();
  };
  return new Connection({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, ...options });
}

test('sends the credential and throws the detail of a final refusal', async () => {
  const connection = await serve(
    (request, response) => {
      response.statusCode = 403;
      response.end(JSON.stringify({ detail: `not you, ${request.headers.authorization}` }));
    },
    { token: 'ak_1' },
  );
  await expect(connection.json('GET', '/')).rejects.toMatchObject({
    name: 'TocsinError',
    message: 'not you, Bearer ak_1',
    status: 403,
    retryAfterMs: null,
  });
});

test('retries a temporary refusal, not before Retry-After', async () => {
  const times: number[] = [];
  const said: string[] = [];
  const connection = await serve(
    (_, response) => {
      times.push(performance.now());
      if (times.length === 1) response.writeHead(503, { 'Retry-After': '1' }).end();
      else response.end('{"yes": true}');
    },
    { onRetry: ({ message }) => said.push(message) },
  );
  expect(await connection.json('GET', '/')).toEqual({ yes: true });
  expect(said).toEqual(['503 Service Unavailable']);
  expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(990); // a timer may fire a moment early
});

test('throws the last refusal if the next retry would be too late', async () => {
  let calls = 0;
  const connection = await serve(
    (_, response) => {
      calls += 1;
      response.writeHead(429, { 'Retry-After': '5' }).end('{"detail": "Too many"}');
    },
    { retryForMs: 1_000 },
  );
  await expect(connection.json('GET', '/')).rejects.toMatchObject({ message: 'Too many', retryAfterMs: 5_000 });
  expect(calls).toBe(1);
});

test('resumes a broken stream until its end', async () => {
  let broken = 0;
  const connection = await serve((request, response) => {
    const from = Number(new URL(request.url!, 'http://any').searchParams.get('from'));
    response.write(`${from}\n`);
    if (from === 3) return response.end();
    broken += 1;
    setImmediate(() => response.destroy());
  });
  const seen: number[] = [];
  const stream = readStream<number>(connection, {
    path: () => `/?from=${seen.length}`,
    accept: 'text/plain',
    isEndless: false,
    signal: undefined,
    async *parse(texts) {
      for await (const text of texts) yield Number(text);
    },
  });
  for await (const number of stream) seen.push(number);
  expect({ seen, broken }).toEqual({ seen: [0, 1, 2, 3], broken: 3 });
});

test('parses events that chunks split, with several data lines, comments and CRLF, and drops an incomplete one', async () => {
  const text =
    ': hello\n\nevent: message\r\nid: 1\r\ndata: a\r\ndata:b\r\n\r\ndata\n\nevent: ping\n\nid: 2\ndata: cut off';
  for (const size of [1, 3, text.length]) {
    const events = [];
    for await (const event of parseEvents(chunksOf(text, size))) events.push(event);
    expect(events).toEqual([
      { event: 'message', id: '1', data: 'a\nb' },
      { event: 'message', data: '' },
    ]);
  }
});

async function* chunksOf(text: string, size: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += size) yield await Promise.resolve(text.slice(at, at + size));
}
