import { beforeAll, describe, expect, test } from '@jest/globals';
import { createTopic, newAddress, Client } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';
import { useStreams } from '../support/use-streams.ts';

const stack = useStack();
const streams = useStreams();
let owner: Person;
let topic: { id: string; name: string };
beforeAll(async () => {
  owner = await stack.person({ tier: 'TEAM' });
  topic = await createTopic(owner, { access_level: 'private' });
  for (const text of ['plain', `${'a'.repeat(3_998)}!`, '(a+)+$ and .* and \\'])
    expect((await owner.publish(topic.name, text)).status).toBe(200);
});

describe('searching for pattern syntax', () => {
  const paths = [
    (q: string) => `/api/topics/${topic.name}/messages?q=${q}`,
    (q: string) => `/api/messages/search?q=${q}`,
    (q: string) => `/api/messages/activity?query=${q}`,
  ];

  // As patterns, some of these would not terminate within this test or would match all three texts.
  test.each([
    ['(a+)+$', 1],
    ['.*', 1],
    ['\\', 1],
    ['^(a|aa)+$', 0],
    ['([a-z]+)*!', 0],
    ['(?=a)', 0],
    ['[', 0],
    ['a{1,32000}', 0],
    ['plain|and', 0],
    ['%', 0],
    ['_', 0],
    ['$where', 0],
    ['a\u0000!', 0],
  ])('%j matches only that text', async (text, count) => {
    for (const path of paths) {
      const { status, body } = await owner.get(path(encodeURIComponent(text)));
      expect({ text, status, total: body.total }).toEqual({ text, status: 200, total: count });
    }
  });
});

test('ignores query parameters with an operator in their name', async () => {
  const stranger = await stack.person();
  const plain = await owner.get(`/api/topics/${topic.name}/messages`);
  for (const name of [
    'q[$ne]',
    'q[$regex]',
    'limit[$gt]',
    'tags[]',
    'tags[$in][]',
    'priority_min[$lt]',
    'constructor[prototype][limit]',
    '__proto__[limit]',
    'include_deleted[]',
  ]) {
    const answer = await owner.get(`/api/topics/${topic.name}/messages?${encodeURIComponent(name)}=1`);
    expect({ name, status: answer.status, body: answer.body }).toEqual({ name, status: 200, body: plain.body });
    expect((await owner.get(`/api/topics/${topic.name}/messages?${name}=1`)).body).toEqual(plain.body);
  }
  expect((await stranger.get('/api/messages/search?topic[$ne]=x&q[$ne]=')).body).toMatchObject({
    messages: [],
    total: 0,
  });
  expect((await stack.caller().get(`/${topic.name}/json?token[$ne]=x&api_key[$ne]=x`)).status).toBe(401);
});

test('returns Markdown and HTML only as JSON and events, never as a page, for any Accept header', async () => {
  const html = '<script>alert(1)</script><img src=x onerror=alert(1)> **bold**';
  const { body: message } = await owner.client.call('POST', `/${topic.name}`, {
    text: html,
    headers: { 'X-Markdown': 'true', 'X-Title': html, 'X-Tags': '<b>', 'Content-Type': 'text/html' },
  });
  const browser = { headers: { Accept: 'text/html,application/xhtml+xml' } };
  const paths = [
    `/${topic.name}/json?since=all`,
    `/api/topics/${topic.name}/messages`,
    `/api/topics/${topic.name}/log`,
    '/api/messages/search?q=script',
    '/api/users/me/data',
    `/api/topics/${topic.name}`,
  ];
  for (const path of paths) {
    const { status, headers, body } = await owner.client.call('GET', path, browser);
    expect([path, status, headers.get('content-type'), headers.get('x-content-type-options')]).toEqual([
      path,
      200,
      'application/json',
      'nosniff',
    ]);
    if (!path.endsWith(topic.name)) expect(JSON.stringify(body)).toContain(JSON.stringify(html).slice(1, -1));
  }
  const stream = await streams.sse(`/${topic.name}/sse?since_id=00000000-0000-0000-0000-000000000000`, {
    ...browser,
    token: owner.client.token,
  });
  expect(stream.headers).toMatchObject({
    'content-type': expect.stringMatching(/^text\/event-stream/),
    'x-content-type-options': 'nosniff',
  });
  expect(await stream.texts(4)).toContain(html);
  const refused = await stack.caller({ Accept: 'text/html' }).get(`/no-such-topic/json?x=${encodeURIComponent(html)}`);
  expect([refused.headers.get('content-type'), refused.body]).toEqual([
    'application/json',
    { detail: 'Topic not found' },
  ]);
  expect(message.message).toBe(html);
});

describe('a forged client address', () => {
  const remaining = async (forwardedFor: string): Promise<number> =>
    Number(
      (
        await new Client().call('GET', '/api/topics/public', { headers: { 'X-Forwarded-For': forwardedFor } })
      ).headers.get('x-ratelimit-remaining'),
    );

  test('before the address that the proxy saw does not extend the rate limit', async () => {
    const real = newAddress();
    const seen: number[] = [];
    for (const forged of [`${newAddress()}, `, `${newAddress()}, ${newAddress()}, `, '127.0.0.1, ', 'unknown, ', ''])
      seen.push(await remaining(`${forged}${real}`));
    expect(seen).toEqual([59, 58, 57, 56, 55]);
    const answers = await Promise.all(
      Array.from({ length: 70 }, () =>
        new Client().call('GET', '/api/topics/public', { headers: { 'X-Forwarded-For': `${newAddress()}, ${real}` } }),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(55);
  });

  test('within its IPv6 /64 does not extend the rate limit, another /64 does', async () => {
    const site = newAddress().split(':').slice(0, 3).join(':');
    expect([
      await remaining(`${site}:a::1`),
      await remaining(`${site}:a:0:ffff::2`),
      await remaining(`${site}:a:1:2:3:4`),
    ]).toEqual([59, 58, 57]);
    expect(await remaining(`${site}:b::1`)).toBe(59);
  });
});
