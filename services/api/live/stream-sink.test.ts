import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { WebSocket, WebSocketServer } from 'ws';
import { SseSink } from './sse-sink.ts';
import type { StreamSink } from './stream-sink.ts';
import { WebSocketSink } from './websocket-sink.ts';

/** The server's end of an HTTP stream whose client disconnected. */
async function goneSse(): Promise<StreamSink> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const request = get(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { agent: false }).on(
    'error',
    () => undefined,
  );
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
  request.destroy();
  await once(response, 'close');
  server.close();
  return new SseSink(response);
}

/** The server's end of a WebSocket whose client disconnected. */
async function goneWebSocket(): Promise<StreamSink> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const [socket, request] = (await once(server, 'connection')) as [WebSocket, IncomingMessage];
  await once(client, 'open');
  client.terminate();
  await once(socket, 'close');
  server.close();
  return new WebSocketSink(socket, request.socket);
}

test.each([
  ['SSE', goneSse],
  ['WebSocket', goneWebSocket],
])('reports a disconnected client over %s immediately', async (_, goneSink) => {
  const sink = await goneSink();
  let isTold = false;
  sink.onClose(() => (isTold = true));
  expect([isTold, sink.isClosed]).toEqual([true, true]);
  sink.ready({}, '');
  sink.end('restart');
});
