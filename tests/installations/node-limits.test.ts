import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { Client, createAccount, type Account, type Answer } from '../support/stack.ts';
import { useOwnStack } from '../support/use-own-stack.ts';

const [perAddress, connectionsMax, requestsMax] = [8, 40, 20];
const { stack, store } = await useOwnStack({
  MAX_CONNECTIONS_PER_ADDRESS: String(perAddress),
  MAX_CONNECTIONS: String(connectionsMax),
  MAX_REQUESTS_PER_MINUTE: String(requestsMax),
});
const { hostname, port } = new URL(stack.urls[0]!);
let sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  // The node refuses the next test's connection until it has noticed that these are closed.
  await eventually(async () => expect((await fetch(`${stack.urls[0]}/health/live`)).ok).toBe(true));
});

/** Opens connections from the address, each with a request. Resolves with the number of answered ones. */
async function servedFrom(localAddress: string, count: number): Promise<number> {
  const opened = Array.from({ length: count }, () => connect({ host: hostname, port: Number(port), localAddress }));
  sockets.push(...opened);
  const outcomes = opened.map((socket) => {
    socket.write('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n');
    return new Promise<number>((resolve) => {
      socket.once('data', () => resolve(1));
      socket.on('error', () => resolve(0)).once('close', () => resolve(0));
    });
  });
  return (await Promise.all(outcomes)).reduce((sum, one) => sum + one, 0);
}

test('MAX_CONNECTIONS_PER_ADDRESS limits the open connections of an address, and frees them', async () => {
  expect(await servedFrom('127.0.7.1', perAddress + 4)).toBe(perAddress);
  expect(await servedFrom('127.0.7.2', perAddress)).toBe(perAddress);
  for (const socket of sockets) socket.destroy();
  await eventually(async () => expect(await servedFrom('127.0.7.1', 1)).toBe(1));
});

test('MAX_CONNECTIONS limits all open connections', async () => {
  let served = 0;
  for (let address = 1; address <= 10; address += 1) served += await servedFrom(`127.0.8.${address}`, perAddress);
  expect(served).toBeLessThanOrEqual(connectionsMax);
  expect(served).toBeGreaterThan(connectionsMax / 2); // test clients have connections as well
});

/** Repeats the request until it is refused. A minute can end meanwhile, but not two. */
async function untilRefused(request: () => Promise<Answer>): Promise<{ admitted: number; refused: Answer }> {
  for (let admitted = 0; admitted <= 2 * requestsMax; admitted += 1) {
    const answer = await request();
    if (answer.status !== 200) return { admitted, refused: answer };
  }
  throw new Error('no request was refused');
}

test('MAX_REQUESTS_PER_MINUTE limits the requests of a login and of an API key separately', async () => {
  const account: Account = await createAccount(store, { urls: stack.urls });
  const { key } = (await account.client.call('POST', '/api/keys', { json: { name: 'k', scopes: ['*'] } })).body;
  const ofLogin = await untilRefused(() => account.client.call('GET', '/api/users/me'));
  const anyone = new Client(undefined, stack.urls);
  const ofKey = await untilRefused(() => anyone.call('GET', '/api/users/me', { headers: { 'X-API-Key': key } }));
  expect(ofKey.admitted).toBeGreaterThanOrEqual(requestsMax);
  for (const { refused } of [ofLogin, ofKey]) {
    expect([refused.status, refused.body]).toEqual([429, { detail: 'Rate limit exceeded' }]);
    expect(refused.headers.get('x-ratelimit-limit')).toBe(String(requestsMax));
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  }
});
