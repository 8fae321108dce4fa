import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { endSocket } from './end-socket.ts';

const server = createServer({ allowHalfOpen: true });
let accepted: Socket;
let client: Socket;

beforeEach(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = connect({ port: (server.address() as AddressInfo).port, allowHalfOpen: true });
  client.on('error', () => undefined);
  [accepted] = (await once(server, 'connection')) as [Socket];
});
afterEach(() => {
  client.destroy();
  server.close();
});

test('frees the descriptor of a client that reads the response and does not close', async () => {
  let answer = '';
  client.on('data', (chunk: Buffer) => (answer += chunk.toString()));
  endSocket(accepted, 'goodbye');
  await once(accepted, 'close');
  expect(answer).toBe('goodbye');
});

test('frees the descriptor of a client that does not read', async () => {
  client.pause();
  accepted.write(Buffer.alloc(32 * 1024 * 1024));
  endSocket(accepted, 'goodbye');
  await once(accepted, 'close');
  expect(accepted.destroyed).toBe(true);
});

test('frees the descriptor of a client that continues to send', async () => {
  const timer = setInterval(() => client.write('x'.repeat(1_000)), 10);
  endSocket(accepted);
  await once(accepted, 'close');
  clearInterval(timer);
  expect(accepted.destroyed).toBe(true);
});
