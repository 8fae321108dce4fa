import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { sinkPolicyOf } from '@tocsin/shared/platform/sink-urls.ts';
import { openSinkClient, type LookupAll, type SinkClientOptions } from './sink-client.ts';

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function serve(respond: RequestListener): Promise<{ port: number; server: Server; connections: () => number }> {
  let connections = 0;
  const server = createServer(respond);
  server.on('connection', () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, server, connections: () => connections };
}

function open(options: Partial<SinkClientOptions> = {}, allowed = ['127.0.0.1']) {
  const policy = sinkPolicyOf({ SINKS_ALLOW_HTTP: true, SINKS_ALLOW_ADDRESSES: allowed });
  const client = openSinkClient({ policy, ...options });
  closers.push(() => client.close());
  return (url: string) => client.post({ url, headers: {}, body: '{}' });
}

/** A resolver that gives the next addresses at each call. */
function resolver(...answers: readonly (readonly string[])[]): { lookup: LookupAll; calls: () => number } {
  let calls = 0;
  return {
    calls: () => calls,
    lookup: (_host, _options, callback) => {
      const addresses = answers[Math.min(calls++, answers.length - 1)]!;
      callback(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      );
    },
  };
}

const notAllowed = { kind: 'failure', reason: 'address is not allowed' };

describe('addresses', () => {
  test.each([
    ['a private one', ['10.0.0.1']],
    ['loopback as IPv4-mapped IPv6', ['::ffff:127.0.0.1']],
    ['metadata through NAT64', ['64:ff9b::a9fe:a9fe']],
    ['the unspecified one', ['0.0.0.0']],
  ])('a name that resolves to %s gets no connection', async (_, found) => {
    expect(await open({ lookup: resolver(found).lookup }, [])('http://hooks.test/')).toEqual(notAllowed);
  });

  test('a connection is made to the address that was checked, and each new connection is checked', async () => {
    const { port, server, connections } = await serve((_, response) => void response.end());
    const { lookup, calls } = resolver(['127.0.0.1'], ['127.0.0.2']);
    const post = open({ lookup });
    expect(await post(`http://hooks.test:${port}/`)).toMatchObject({ status: 200 });
    expect(connections()).toBe(1);
    server.closeAllConnections();
    // The client may first notice that the connection was closed.
    await eventually(async () => expect(await post(`http://hooks.test:${port}/`)).toEqual(notAllowed));
    expect(calls()).toBeGreaterThan(1);
    expect(connections()).toBe(1);
  });

  test('only the allowed addresses of a name are used', async () => {
    const { port } = await serve((_, response) => void response.end());
    const { lookup } = resolver(['10.255.255.1', '127.0.0.1']);
    expect(await open({ lookup })(`http://hooks.test:${port}/`)).toMatchObject({ status: 200 });
  });

  test('a URL that is not allowed any more gets no request', async () => {
    const { port, connections } = await serve((_, response) => void response.end());
    for (const host of ['127.0.0.1', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]'])
      expect(await open({}, [])(`http://${host}:${port}/`)).toMatchObject({ kind: 'failure' });
    expect(connections()).toBe(0);
  });
});

describe('answers', () => {
  test('a redirect is not followed', async () => {
    const { port } = await serve((request, response) => {
      if (request.url === '/') response.writeHead(307, { Location: '/secret' }).end();
      else response.writeHead(200).end();
    });
    expect(await open()(`http://127.0.0.1:${port}/`)).toMatchObject({ kind: 'answer', status: 307 });
  });

  test('an endless body ends with the connection, after at most a few buffers', async () => {
    let sent = 0;
    const closed = Promise.withResolvers<void>();
    const { port } = await serve((_, response) => {
      response.on('close', closed.resolve);
      response.writeHead(200);
      const send = (): void => {
        sent += 65_536;
        if (!response.destroyed) response.write(Buffer.alloc(65_536), send);
      };
      send();
    });
    expect(await open()(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 200 });
    await closed.promise;
    expect(sent).toBeLessThan(50_000_000);
  });

  test('the time limit covers headers that never come, and bodies that come byte by byte', async () => {
    const { port } = await serve((request, response) => {
      if (request.url === '/silent') return;
      response.writeHead(200);
      const timer = setInterval(() => response.write('.'), 20);
      response.on('close', () => clearInterval(timer));
    });
    const post = open({ timeoutMs: 2_000 });
    expect(await post(`http://127.0.0.1:${port}/silent`)).toEqual({ kind: 'failure', reason: 'timeout' });
    expect(await post(`http://127.0.0.1:${port}/bytes`)).toMatchObject({ status: 200 });
  });

  test('Retry-After is read, at most an hour', async () => {
    const { port } = await serve((_, response) => void response.writeHead(503, { 'Retry-After': '999999' }).end());
    expect(await open()(`http://127.0.0.1:${port}/`)).toEqual({ kind: 'answer', status: 503, retryAfterMs: 3_600_000 });
  });

  test('a refused connection is a failure', async () => {
    const { port, server } = await serve(() => undefined);
    await new Promise((resolve) => server.close(resolve));
    expect(await open()(`http://127.0.0.1:${port}/`)).toEqual({
      kind: 'failure',
      reason: 'connection failed: ECONNREFUSED',
    });
  });
});
