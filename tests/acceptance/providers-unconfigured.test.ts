import { expect, test } from '@jest/globals';
import { Client } from '../support/stack.ts';

test('reports a provider that is not configured', async () => {
  const client = new Client();
  for (const path of ['/auth/google/login', '/auth/google/callback?code=a&state=b']) {
    expect(await client.call('GET', path)).toMatchObject({ status: 503, body: { detail: 'Google is not configured' } });
  }
  expect(await client.call('POST', '/auth/apple/mobile', { json: { identity_token: 'x', user: 'x' } })).toMatchObject({
    status: 503,
    body: { detail: 'Apple is not configured' },
  });
});
