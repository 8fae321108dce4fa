import { createServer, type RequestListener } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { ask, patiently, readStream, Refusal } from './server.ts';

let close: () => void = () => undefined;
afterEach(() => close());

async function serve(listener: RequestListener): Promise<{ url: string }> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test('sends the credential and throws the detail of a final refusal', async () => {
  const server = await serve((request, response) => {
    response.statusCode = 403;
    response.end(JSON.stringify({ detail: `not you, ${request.headers.authorization}` }));
  });
  await expect(ask({ ...server, token: 'ak_1' }, '/')).rejects.toMatchObject({
    message: 'not you, Bearer ak_1',
    retryAfterMs: null,
  });
});

test('retries a retryable refusal, not before Retry-After', async () => {
  const times: number[] = [];
  const server = await serve((_, response) => {
    times.push(performance.now());
    if (times.length === 1) response.writeHead(503, { 'Retry-After': '1' }).end();
    else response.end('yes');
  });
  const said: string[] = [];
  const answer = await patiently(
    20_000,
    () => ask(server, '/'),
    (line) => said.push(line),
  );
  expect(await answer.text()).toBe('yes');
  expect(said).toEqual(['503 Service Unavailable; retrying']);
  expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(990); // a timer may fire a moment early
});

test('throws the last refusal after the patience', async () => {
  const refuse = () => Promise.reject(new Refusal('unavailable', 5_000));
  await expect(patiently(1_000, refuse, () => undefined)).rejects.toThrow('unavailable');
});

test('resumes a broken stream until its end', async () => {
  let broken = 0;
  const server = await serve((request, response) => {
    const from = Number(new URL(request.url!, 'http://any').searchParams.get('from'));
    response.write(`${from}\n`);
    if (from < 3) setImmediate(() => response.destroy());
    else response.end();
    if (from < 3) broken += 1;
  });
  const seen: number[] = [];
  await readStream({
    open: (signal) => ask(server, `/?from=${seen.length}`, { signal }),
    read: async (texts) => {
      for await (const text of texts) seen.push(Number(text));
    },
    isEndless: false,
  });
  expect({ seen, broken }).toEqual({ seen: [0, 1, 2, 3], broken: 3 });
});
