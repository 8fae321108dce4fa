import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { OpenRequests } from './open-requests.ts';

let server: Server;
let requests: OpenRequests;
let serve: RequestListener;
let sockets: Socket[];

beforeEach(async () => {
  requests = new OpenRequests();
  sockets = [];
  server = createServer((request, response) => requests.add(request, response, serve));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  server.closeAllConnections();
  server.close();
});

function send(bytes: string): Socket {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined); // the server may reset the connection
  sockets.push(socket);
  socket.write(bytes);
  return socket;
}

const get = (path: string | number, headers = '') => `GET /${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;
const bodies = (answer: string) => [...answer.matchAll(/\r\n\r\n([^\r\n]*?)(?=HTTP|$)/g)].map(([, body]) => body);

test('serves pipelined requests one at a time, in order', async () => {
  let [running, most] = [0, 0];
  serve = (request, response) => {
    most = Math.max(most, (running += 1));
    setImmediate(() => {
      running -= 1;
      response.setHeader('Content-Length', request.url!.length).end(request.url);
    });
  };
  const paths = Array.from({ length: 1_600 }, (_, index) => String(index));
  const answer = await text(send(paths.map((path) => get(path)).join('') + get('last', 'Connection: close\r\n')));
  expect(bodies(answer)).toEqual([...paths, 'last'].map((path) => `/${path}`));
  expect(most).toBe(1);
});

test('serves pipelined requests with bodies', async () => {
  serve = (request, response) => {
    void text(request).then((body) => response.setHeader('Content-Length', body.length).end(body));
  };
  const post = (body: string, headers = '') =>
    `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n${headers}\r\n${body}`;
  const sent = Array.from({ length: 50 }, (_, index) => `${index}-`.padEnd(20_000, 'x'));
  const answer = await text(send(sent.map((body) => post(body)).join('') + post('last', 'Connection: close\r\n')));
  expect(bodies(answer)).toEqual([...sent, 'last']);
});

const padding = 'x'.repeat(8_000);
const padded = {
  GET: get('x', `X-Padding: ${padding}\r\n`),
  POST: `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${padding.length}\r\n\r\n${padding}`,
};

test.each(['GET', 'POST'] as const)('reads little ahead of the %s request in progress', async (method) => {
  const held = Promise.withResolvers<void>();
  const count = 2_000;
  let [served, aheadMax] = [0, 0];
  serve = (request, response) => {
    if (request.url === '/other') return void response.end();
    served += 1;
    aheadMax = Math.max(aheadMax, request.socket.bytesRead - served * padding.length);
    if (request.url === '/held') void held.promise.then(() => response.end());
    else void text(request).then(() => response.end());
    accepted = request.socket;
  };
  let accepted: Socket | undefined;
  const flooding = send(get('held') + padded[method].repeat(count));
  await eventually(() => served === 1);
  // Each response to another connection takes turns of the event loop, in which the server could read.
  for (let turn = 0; turn < 300; turn += 1) await text(send(get('other', 'Connection: close\r\n')));
  expect(accepted!.bytesRead).toBeLessThan(1024 * 1024);
  expect(served).toBe(1);
  flooding.resume();
  held.resolve();
  await eventually(() => served === count + 1);
  expect(aheadMax).toBeLessThan(1024 * 1024);
});

test('closes a connection when too many requests wait, and serves others', async () => {
  let held = Promise.withResolvers<void>();
  serve = (request, response) => {
    if (request.url === '/held') void held.promise.then(() => response.end());
    else response.end();
  };
  const flooded = Array.from({ length: 8 }, () => send(get('held') + get('x').repeat(1_600)));
  const closed = await Promise.race(flooded.map((socket) => once(socket, 'close').then(() => socket)));
  expect(closed.destroyed).toBe(true);
  expect(await text(send(get('other', 'Connection: close\r\n')))).toContain('200 OK');
  for (const socket of flooded) socket.destroy();
  held.resolve();
  await eventually(() => requests.size === 0);
  // Nothing is left waiting: the same flood fits again.
  held = Promise.withResolvers();
  const again = Array.from({ length: 6 }, () => send(get('held') + get('x').repeat(1_600)));
  await eventually(() => requests.size === 6);
  expect(again.every(({ destroyed }) => !destroyed)).toBe(true);
  held.resolve();
});

test('forgets requests that wait on a connection that the client closed', async () => {
  const served: string[] = [];
  let respond = () => {};
  serve = (request, response) => {
    served.push(request.url!);
    respond = () => response.end();
  };
  const socket = send(get('first') + get('second'));
  await eventually(() => requests.size === 1);
  socket.resetAndDestroy();
  await once(socket, 'close');
  respond(); // the server does not read from the connection, so it notices the end when it writes
  await eventually(() => requests.size === 0);
  expect(served).toEqual(['/first']);
});
