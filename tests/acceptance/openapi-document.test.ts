import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { Client } from '../support/stack.ts';

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as {
  version: string;
};

test('the document has the version of the package and is cacheable', async () => {
  const { status, headers, body } = await new Client().call('GET', '/openapi.json');
  expect([status, headers.get('content-type'), body.openapi, body.info.version]).toEqual([
    200,
    'application/json',
    '3.1.1',
    version,
  ]);
  expect(headers.get('cache-control')).toMatch(/^public, max-age=\d+$/);
});

test('the document does not count against rate limits, ignores credentials, and supports HEAD', async () => {
  const answer = await new Client('nonsense').call('GET', '/openapi.json');
  expect([answer.status, answer.headers.get('x-ratelimit-limit')]).toEqual([200, null]);
  expect(await new Client().call('HEAD', '/openapi.json')).toMatchObject({ status: 200, body: undefined });
  const refused = await new Client('nonsense').call('POST', '/openapi.json');
  expect([refused.status, refused.headers.get('allow'), refused.headers.get('x-ratelimit-limit')]).toEqual([
    405,
    'GET, HEAD',
    null,
  ]);
});

test('the document names every kind of credential and the scope and permission that each operation requires', async () => {
  const { body } = await new Client().call('GET', '/openapi.json');
  expect(Object.keys(body.components.securitySchemes)).toEqual([
    'accessToken',
    'basic',
    'apiKey',
    'apiKeyInQuery',
    'authInQuery',
    'topicToken',
    'tokenInQuery',
    'adminToken',
  ]);
  expect(body.paths['/{topic}'].post.security).toEqual(
    expect.arrayContaining([{}, { accessToken: [] }, { apiKey: ['publish'] }, { topicToken: ['write'] }]),
  );
  expect(body.paths['/{topic}/sse'].get.security).toContainEqual({ tokenInQuery: ['read'] });
  expect(body.paths['/api/keys'].get.security).toContainEqual({ apiKey: ['keys:read'] });
  expect(body.paths['/auth/login'].post.security).toEqual([]);
  expect(body.paths['/admin/users/{email}/tier'].put.security).toEqual([{ adminToken: [] }]);
});
