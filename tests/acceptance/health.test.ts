import { expect, test } from '@jest/globals';
import { Client, testStack } from '../support/stack.ts';

test.each(testStack().urls.map((_url, node) => node))(
  'node %d is live and ready with all its components',
  async (node) => {
    const client = new Client();
    expect(await client.call('GET', '/health/live', { node })).toMatchObject({ status: 200, body: { status: 'ok' } });
    expect(await client.call('GET', '/health/ready', { node })).toMatchObject({
      status: 200,
      body: { status: 'ok', parts: { log: 'ok', database: 'ok', queue: 'ok', bus: 'ok' } },
    });
  },
);

test("answers the health check of ntfy's clients", async () => {
  const answer = await new Client().call('GET', '/v1/health');
  expect([answer.status, answer.body]).toEqual([200, { healthy: true }]);
});

test('serves metrics for Prometheus', async () => {
  const answer = await new Client().call('GET', '/metrics');
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ]);
  expect(answer.body).toMatch(/^tocsin_open_streams \d+$/m);
});

test.each(['/health/live', '/health/ready', '/v1/health', '/metrics'])(
  '%s does not count against rate limits, ignores credentials, and supports HEAD',
  async (path) => {
    const answer = await new Client('nonsense').call('GET', path);
    expect([answer.status, answer.headers.get('x-ratelimit-limit')]).toEqual([200, null]);
    expect(await new Client().call('HEAD', path)).toMatchObject({ status: 200, body: undefined });
    const refused = await new Client('nonsense').call('POST', path);
    expect([refused.status, refused.headers.get('allow'), refused.headers.get('x-ratelimit-limit')]).toEqual([
      405,
      'GET, HEAD',
      null,
    ]);
  },
);
