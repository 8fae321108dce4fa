import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { Registry } from 'prom-client';
import { limitConnections } from './limit-connections.ts';

const defaults = {
  MAX_CONNECTIONS: undefined as number | undefined,
  MAX_CONNECTIONS_PER_ADDRESS: 1_000,
  TRUST_PROXY: '',
  RATE_LIMITS: true,
};
let server: Server;
let metrics: Registry;
let sockets: Socket[];

async function start(config: Partial<typeof defaults>): Promise<void> {
  server = createServer((_request, response) => response.end());
  metrics = new Registry();
  sockets = [];
  limitConnections(server, { config: { ...defaults, ...config }, metrics, log: openLogger('test', 'silent') });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
}
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  server.closeAllConnections();
  server.close();
});

/** Opens a connection and sends a request. Resolves with whether it was answered. */
async function isServed(from = '127.0.0.1'): Promise<boolean> {
  const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', localAddress: from });
  sockets.push(socket);
  socket.on('error', () => undefined);
  const answered = once(socket, 'data').then(() => true);
  const closed = once(socket, 'close').then(() => false);
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  return Promise.race([answered, closed]);
}

async function served(count: number, from?: string): Promise<number> {
  let number = 0;
  for (let index = 0; index < count; index += 1) if (await isServed(from)) number += 1;
  return number;
}

const metric = async (name: string) => (await metrics.metrics()).split('\n').find((line) => line.startsWith(name));

test('limits the open connections of an address, and frees a place when one closes', async () => {
  await start({ MAX_CONNECTIONS_PER_ADDRESS: 3 });
  expect(await served(5)).toBe(3);
  expect(await served(2, '127.0.0.2')).toBe(2);
  expect(await metric('tocsin_refused_connections_total{')).toBe('tocsin_refused_connections_total{limit="address"} 2');
  sockets[0]!.destroy();
  await eventually(() => isServed());
});

test('limits all open connections', async () => {
  await start({ MAX_CONNECTIONS: 4 });
  expect(await served(3)).toBe(3);
  expect(await served(3, '127.0.0.2')).toBe(1);
  expect(await metric('tocsin_refused_connections_total{')).toBe('tocsin_refused_connections_total{limit="total"} 2');
  expect(await metric('tocsin_open_connections ')).toBe('tocsin_open_connections 4');
});

test.each([{ TRUST_PROXY: '1' }, { RATE_LIMITS: false }, { MAX_CONNECTIONS_PER_ADDRESS: 0 }])(
  'has no limit per address with %j',
  async (config) => {
    await start({ MAX_CONNECTIONS_PER_ADDRESS: 1, ...config });
    expect(await served(3)).toBe(3);
  },
);

test('leaves descriptors for engines and files by default', async () => {
  await start({});
  expect(server.maxConnections).toBeGreaterThan(0);
  const { userLimits } = process.report.getReport() as unknown as { userLimits: { open_files: { soft: number } } };
  expect(server.maxConnections).toBeLessThan(Number(userLimits.open_files.soft));
});
