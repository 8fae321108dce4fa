import { once } from 'node:events';
import { createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { newId, newMessage } from '@tocsin/shared/testing/builders.ts';
import { WebSocket, WebSocketServer } from 'ws';
import { messageDelivery } from './delivery.ts';
import { SseSink } from './sse-sink.ts';
import { WebSocketSink } from './websocket-sink.ts';

/** The longer ones need a length of 64 bits in a frame, and characters of several bytes. */
const texts = ['short', 'ä'.repeat(40_000), '€'.repeat(21_000), 'last'];
const deliveries = texts.map((message, offset) =>
  messageDelivery({ ...newMessage(newId(), { message }), offset }, 'alerts'),
);

test('writes whole WebSocket frames, also between frames of the library', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const received: { type: string; message?: string }[] = [];
  client.on('message', (data: Buffer, isBinary) => received.push(isBinary ? null : JSON.parse(data.toString())));
  const [socket, request] = (await once(server, 'connection')) as [WebSocket, IncomingMessage];
  const sink = new WebSocketSink(socket, request.socket);
  for (const delivery of deliveries) {
    sink.deliver(delivery);
    sink.ping();
  }
  sink.end('restart');
  const [code] = (await once(client, 'close')) as [number];
  server.close();
  expect(code).toBe(1012);
  const ping = { type: 'ping' };
  const expected = texts.flatMap((message) => [expect.objectContaining({ type: 'message', message }), ping]);
  expect(received).toEqual(expected);
});

type Id = string | undefined;

/** A server that delivers all, with this position instead of their IDs if given, and ends the stream. */
async function deliveringServer(id: Id) {
  const server = createServer((_request: IncomingMessage, response: ServerResponse) => {
    const sink = new SseSink(response);
    for (const delivery of deliveries) {
      sink.deliver(delivery, id);
      sink.ping();
    }
    sink.end('access-lost');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

const eventsOf = (stream: string) =>
  [...stream.matchAll(/^id: (.+)\nevent: message\ndata: (.+)\n\nevent: ping\n/gm)].map(([, eventId, data]) => {
    const { id, message } = JSON.parse(data!) as { id: string; message: string };
    return { eventId, id, message };
  });

const expectedWith = (eventId: Id) =>
  deliveries.map(({ messageId: id }, index) => ({ eventId: eventId ?? id, id, message: texts[index] }));

describe.each<[string, Id]>([
  ['one topic', undefined],
  ['several topics', `alerts:${newId()},builds:${newId()}`],
])('a stream of %s', (_, id) => {
  test('writes whole events as chunks of a response', async () => {
    const { server, port } = await deliveringServer(id);
    const asked = send({ port, host: '127.0.0.1', agent: false }).end();
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    const stream = await text(response);
    server.close();
    expect(response.headers['transfer-encoding']).toBe('chunked');
    expect(eventsOf(stream)).toEqual(expectedWith(id));
  });

  test('writes events without chunks to a client of HTTP/1.0', async () => {
    const { server, port } = await deliveringServer(id);
    const socket = connect(port, '127.0.0.1');
    socket.write('GET / HTTP/1.0\r\n\r\n');
    const response = await text(socket);
    server.close();
    const [head, stream = ''] = response.split('\r\n\r\n');
    expect(head).not.toMatch(/transfer-encoding/i);
    expect(eventsOf(stream)).toEqual(expectedWith(id));
  });
});
