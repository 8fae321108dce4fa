import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { Client, createTopic, newAddress, testStack } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();

/** Sends the start and then one byte per second until the server closes. Resolves with the response and its delay. */
async function drip(start: string): Promise<{ answer: string; seconds: number }> {
  const { hostname, port } = new URL(testStack().urls[0]!);
  const socket: Socket = connect(Number(port), hostname);
  let answer = '';
  socket.on('error', () => undefined).on('data', (chunk: Buffer) => (answer += chunk.toString()));
  await once(socket, 'connect');
  const startedAt = performance.now();
  socket.write(start);
  const timer = setInterval(() => socket.write('x'), 1_000);
  await once(socket, 'close');
  clearInterval(timer);
  return { answer, seconds: (performance.now() - startedAt) / 1_000 };
}

test('returns 408 to a client that sends one byte per second: headers after 15 seconds, a body after 60', async () => {
  const { name } = await createTopic(await stack.person());
  const slow = Array.from({ length: 20 }, () => drip('GET /health/live HTTP/1.1\r\nHost: a\r\nX-Slow: '));
  const body = drip(
    `POST /${name} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${newAddress()}\r\nContent-Length: 10000\r\n\r\n`,
  );
  // Other clients are not delayed.
  expect((await new Client().call('POST', `/${name}`, { text: 'meanwhile' })).status).toBe(200);
  // Node checks its connections every 5 seconds; the rest is a margin for a loaded machine.
  for (const { answer, seconds } of await Promise.all(slow)) {
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toContain('{"detail":"The request took too long to arrive"}');
    expect(seconds).toBeGreaterThan(14);
    expect(seconds).toBeLessThan(40);
  }
  const { answer, seconds } = await body;
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  expect(seconds).toBeLessThan(90);
  const { body: history } = await new Client().call('GET', `/${name}/json`);
  expect(history.messages.map(({ message }: { message: string }) => message)).toEqual(['meanwhile']);
}, 150_000);
