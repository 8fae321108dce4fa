import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { Client, createTopic, testStack } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

describe('the path of a publish', () => {
  const stack = useStack();
  let topic: { id: string; name: string };
  const client = new Client();

  beforeAll(async () => {
    topic = await createTopic(await stack.person());
  });

  const forms: readonly [string, (name: string) => string][] = [
    ['plain', (name) => `/${name}`],
    ['with a query', (name) => `/${name}?title=From+the+query`],
    ['with an empty query', (name) => `/${name}?`],
    ['in upper case', (name) => `/${name.toUpperCase()}`],
    ['with a letter percent-encoded', (name) => `/%${name.charCodeAt(0).toString(16)}${name.slice(1)}`],
    ['with a slash at the end', (name) => `/${name}/`],
  ];

  test.each(forms)('may be %s', async (_, path) => {
    for (const method of ['POST', 'PUT']) {
      const answer = await client.call(method, path(topic.name), { text: 'Disk is full' });
      expect(answer).toMatchObject({
        status: 200,
        body: { topic_id: topic.id, topic: topic.name, message: 'Disk is full' },
      });
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  test.each([
    '/metrics/',
    '/METRICS',
    '/health/live/',
    '/api/topics/public/',
    '/API/topics/public',
    '/openapi.json/',
    '/auth/login/',
    '/:topic/json/',
  ])('does not answer %s', async (path) => {
    // Not with the client, which would look up the path in the OpenAPI document.
    const url = new URL(testStack().urls[0] + path.replace(':topic', topic.name));
    const [answer] = (await once(get(url, { headers: { 'X-Forwarded-For': client.address } }), 'response')) as [
      IncomingMessage,
    ];
    expect([404, 405]).toContain(answer.resume().statusCode);
  });

  test('returns the request ID that the client sent', async () => {
    const answer = await client.call('POST', `/${topic.name}`, { text: 'x', headers: { 'X-Request-Id': 'mine-1' } });
    expect(answer.headers.get('x-request-id')).toBe('mine-1');
  });

  test('allows the application’s origin to read the response', async () => {
    const { env, urls } = testStack();
    const { origin } = new URL(env['APP_URL'] ?? urls[0]!);
    const answer = await client.call('POST', `/${topic.name}`, { text: 'x', headers: { Origin: origin } });
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
    expect(answer.headers.get('access-control-expose-headers')).toContain('X-Request-Id');
  });

  test('returns 404 for an unknown topic, 400 for an undecodable path, and 405 for another method', async () => {
    expect((await client.call('POST', '/nobody-created-this', { text: 'x' })).status).toBe(404);
    expect((await client.call('POST', '/api', { text: 'x' })).status).toBe(404);
    expect((await client.call('POST', '/%zz', { text: 'x' })).status).toBe(400);
    const answer = await client.call('DELETE', `/${topic.name}`);
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toContain('POST');
  });
});
