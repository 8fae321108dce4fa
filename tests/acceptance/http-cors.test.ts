import { expect, test } from '@jest/globals';
import { Client, testStack } from '../support/stack.ts';

const origin = testStack().urls[0]!;
const preflight = (path: string, from: string) =>
  new Client().call('OPTIONS', path, {
    headers: {
      Origin: from,
      'Access-Control-Request-Method': 'PATCH',
      'Access-Control-Request-Headers': 'authorization,x-title,idempotency-key',
    },
  });

test.each(['/api/topics', '/some-topic', '/auth/login', '/no/such/path'])(
  'a preflight for %s is answered and does not count against rate limits',
  async (path) => {
    const { status, headers } = await preflight(path, origin);
    expect([status, headers.get('access-control-allow-origin'), headers.get('x-ratelimit-limit')]).toEqual([
      204,
      origin,
      null,
    ]);
    expect(headers.get('access-control-allow-methods')!.split(',').sort()).toEqual([
      'DELETE',
      'GET',
      'HEAD',
      'PATCH',
      'POST',
      'PUT',
    ]);
    expect(headers.get('access-control-allow-headers')).toBe('authorization,x-title,idempotency-key');
    expect(headers.get('access-control-allow-credentials')).toBeNull();
  },
);

test('scripts of the app can read responses, errors and the exposed headers', async () => {
  for (const path of ['/api/topics/public', '/no-such-topic/json', '/no/such/path', '/%zz']) {
    const { headers } = await new Client().call('GET', path, { headers: { Origin: origin } });
    expect(headers.get('access-control-allow-origin')).toBe(origin);
    expect(headers.get('vary')).toBe('Origin');
    expect(headers.get('access-control-expose-headers')!.split(',')).toEqual(
      expect.arrayContaining([
        'X-RateLimit-Limit',
        'X-RateLimit-Remaining',
        'X-RateLimit-Reset',
        'X-Request-Id',
        'X-Total-Count',
        'Retry-After',
        'Idempotency-Replayed',
        'X-Ignored',
      ]),
    );
  }
});

test('scripts of other sites cannot read responses', async () => {
  expect(
    (await preflight('/api/topics', 'https://evil.example')).headers.get('access-control-allow-origin'),
  ).toBeNull();
  const { headers } = await new Client().call('GET', '/api/topics/public', {
    headers: { Origin: 'https://evil.example' },
  });
  expect(headers.get('access-control-allow-origin')).toBeNull();
});
