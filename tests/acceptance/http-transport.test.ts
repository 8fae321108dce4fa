import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { beforeAll, expect, test } from '@jest/globals';
import { Client, createTopic, testStack } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();
const url = new URL(testStack().urls[0]!);
const { address } = new Client();
let name: string;

beforeAll(async () => {
  ({ name } = await createTopic(await stack.person()));
});

/** Sends raw bytes and resolves with the status, headers and JSON of the first response. */
async function sendRaw(
  bytes: string | Buffer,
): Promise<{ status: number; headers: Map<string, string>; body: { detail?: string } }> {
  const socket = connect(Number(url.port), url.hostname);
  socket.on('error', () => undefined); // the server may close the connection early
  socket.write(bytes);
  const answer = await textOf(socket);
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  return { status: Number(statusLine.split(' ')[1]), headers, body: JSON.parse(body) as { detail?: string } };
}

test.each([
  ['headers beyond 64 KiB', `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(70_000)}\r\n\r\n`, 431],
  ['a path beyond 64 KiB', `GET /${'x'.repeat(70_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
  ['a request that is not HTTP', 'hello\r\n\r\n', 400],
  ['no Host', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
  ['two Hosts', 'GET /health/live HTTP/1.1\r\nHost: x\r\nhost: y\r\nConnection: close\r\n\r\n', 400],
  ['a header with a line break in its name', 'GET / HTTP/1.1\r\nHost: x\r\nA\nb: c\r\n\r\n', 400],
  ['two lengths of one body', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd', 400],
  [
    'a length and chunks',
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
  ],
])('refuses %s with a JSON error', async (_what, bytes, status) => {
  const answer = await sendRaw(bytes);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'application/json']);
  expect(answer.body.detail).toEqual(expect.any(String));
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  expect(answer.headers.get('cache-control')).toBe('no-store');
});

test('starts a pipelined request after the response to the one before it', async () => {
  const { name: empty } = await createTopic(await stack.person());
  const socket = connect(Number(url.port), url.hostname);
  socket.write(
    `GET /api/topics/${empty}/log?wait=1 HTTP/1.1\r\nHost: x\r\n\r\n` +
      `POST /${empty} HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello`,
  );
  const answers = await textOf(socket);
  expect(answers).toContain('"records":[]');
  expect(answers).toContain('"message":"hello"');
});

test.each([
  ['a request that is not HTTP', 'hello\r\n\r\n'],
  ['a refused upgrade', 'GET /x/y/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'],
])('frees the connection after %s even if the client keeps it open', async (_what, bytes) => {
  const socket = connect({ port: Number(url.port), host: url.hostname, allowHalfOpen: true });
  const reset = once(socket, 'error');
  socket.resume().write(bytes);
  await once(socket, 'end');
  const timer = setInterval(() => socket.write('x'), 50);
  expect(await reset).toEqual([expect.objectContaining({ code: expect.stringMatching(/^(ECONNRESET|EPIPE)$/) })]);
  clearInterval(timer);
});

test('closes the connection after a WebSocket path without an upgrade if the client sends Connection: close', async () => {
  const answer = await sendRaw('GET /ws HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  expect([answer.status, answer.headers.get('connection')]).toEqual([426, 'Upgrade, close']);
});

test('accepts headers of 60 KiB', async () => {
  const headers = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`x-long-${index}`, 'x'.repeat(6_000)]));
  expect((await new Client().call('POST', `/${name}`, { text: 'x', headers })).status).toBe(200);
});

/** Starts a request whose body the test sends later. */
function start(path: string, headers: Record<string, string>) {
  const request = httpRequest(new URL(path, url), {
    method: 'POST',
    headers: { 'X-Forwarded-For': address, ...headers },
  });
  const answered = once(request, 'response') as Promise<[IncomingMessage]>;
  return { request, answered };
}

test('returns 413 for a chunked body as soon as it exceeds 64 KiB', async () => {
  const { request, answered } = start(`/${name}`, { 'Transfer-Encoding': 'chunked' });
  request.on('error', () => undefined);
  request.write('x'.repeat(40_000));
  request.write('x'.repeat(40_000));
  const [response] = await answered;
  expect([response.statusCode, response.headers.connection]).toEqual([413, 'close']);
  request.destroy();
});

test('refuses a Content-Length beyond 64 KiB before the body arrives', async () => {
  const { request, answered } = start(`/${name}`, { 'Content-Length': '1000000', Expect: '100-continue' });
  let mayContinue = false;
  request.on('continue', () => (mayContinue = true));
  request.on('error', () => undefined);
  request.flushHeaders();
  const [response] = await answered;
  expect([response.statusCode, mayContinue]).toEqual([413, false]);
  request.destroy();
});

test('answers Expect: 100-continue with 100', async () => {
  const { request, answered } = start(`/${name}`, { 'Content-Length': '2', Expect: '100-continue' });
  request.on('continue', () => request.end('ok'));
  request.flushHeaders();
  const [response] = await answered;
  expect(response.statusCode).toBe(200);
  expect(JSON.parse(await textOf(response))).toMatchObject({ message: 'ok' });
});

test('a truncated body publishes nothing', async () => {
  const { request, answered } = start(`/${name}`, { 'Content-Length': '100' });
  await new Promise((sent) => request.write('only a part', sent));
  request.destroy();
  await expect(answered).rejects.toThrow();
  const last = await new Client().call('POST', `/${name}`, { text: 'after' });
  const { body } = await new Client().call('GET', `/${name}/json`);
  expect(body.messages.at(-1).id).toBe(last.body.id);
  expect(body.messages.some(({ message }: { message: string }) => message.startsWith('only'))).toBe(false);
});

test('keeps idle connections open longer than proxies do', async () => {
  const { headers } = await new Client().call('GET', '/api/topics');
  expect(headers.get('keep-alive')).toBe('timeout=75');
});
