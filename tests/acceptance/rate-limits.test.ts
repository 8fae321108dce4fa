import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Tier } from '@tocsin/shared/domain/accounts/tiers.ts';
import { Client, createTopic, newTopicName, testStack, type Answer } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
const nodes = testStack().urls.length;

/** The rate limit headers of a response; the reset is in seconds from now. */
function budgetOf({ headers }: Answer) {
  const number = (name: string) => Number(headers.get(name));
  return {
    limit: number('x-ratelimit-limit'),
    remaining: number('x-ratelimit-remaining'),
    resetIn: number('x-ratelimit-reset') - Date.now() / 1_000,
  };
}

/** Expects this many seconds in a recent response, with a margin for a slow machine. */
const expectSoon = (seconds: number, atMost: number) => {
  expect(seconds).toBeGreaterThan(atMost - 30);
  expect(seconds).toBeLessThanOrEqual(atMost + 1);
};

/** A public topic of a TEAM account, whose own limits are too high to interfere. */
let open: { id: string; name: string };
beforeAll(async () => {
  open = await createTopic(await stack.person({ tier: 'TEAM' }));
});

describe('accepts exactly the allowed number of 500 concurrent publishes over all nodes', () => {
  test.each<[Tier, number]>([
    ['FREE', 10],
    ['ESSENTIALS', 30],
    ['TEAM', 100],
  ])(
    'for %s, %i',
    async (tier, allowed) => {
      const person = await stack.person({ tier });
      const topic = await createTopic(person);
      const answers = await Promise.all(
        Array.from({ length: 500 }, (_, index) =>
          person.client.call('POST', `/${topic.name}`, { text: `${index}`, node: index % nodes }),
        ),
      );
      const accepted = answers.filter(({ status }) => status === 200);
      expect(accepted).toHaveLength(allowed);
      expect(accepted.map((answer) => budgetOf(answer).remaining).sort((a, b) => a - b)).toEqual(
        Array.from({ length: allowed }, (_, index) => index),
      );
      for (const answer of answers.filter(({ status }) => status !== 200)) {
        expect(answer).toMatchObject({ status: 429, body: { detail: 'Rate limit exceeded' } });
        expect(budgetOf(answer)).toMatchObject({ limit: allowed, remaining: 0 });
      }
      expect((await person.get(`/api/topics/${topic.name}`)).body.message_count).toBe(allowed);
    },
    120_000,
  );
});

test('serves 60 of 500 concurrent anonymous requests of one address', async () => {
  const client = new Client();
  const answers = await Promise.all(
    Array.from({ length: 500 }, (_, index) =>
      client.call(index % 2 === 0 ? 'GET' : 'POST', index % 2 === 0 ? `/${open.name}/json` : `/${open.name}`, {
        node: index % nodes,
        ...(index % 2 === 0 ? {} : { text: 'x' }),
      }),
    ),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(60);
  for (const answer of answers.filter(({ status }) => status !== 200)) {
    expect(answer).toMatchObject({ status: 429, body: { detail: 'Rate limit exceeded' } });
    expect(budgetOf(answer)).toMatchObject({ limit: 60, remaining: 0 });
    expectSoon(Number(answer.headers.get('retry-after')), 60);
  }
  expect((await new Client().call('GET', `/${open.name}/json`)).status).toBe(200);
});

describe('rate limit headers', () => {
  test('show a full window before its first use, and the remaining uses after each publish', async () => {
    const person = await stack.person();
    const fresh = budgetOf(await person.get('/api/users/me'));
    expect(fresh).toMatchObject({ limit: 10, remaining: 10 });
    expectSoon(fresh.resetIn, 60);
    const first = budgetOf(await person.publish(open.name));
    expect(first).toMatchObject({ limit: 10, remaining: 9 });
    const second = budgetOf(await person.publish(open.name));
    expect(second.remaining).toBe(8);
    expect(Math.abs(second.resetIn - first.resetIn)).toBeLessThan(15);
    expect(budgetOf(await person.get('/api/users/me')).remaining).toBe(8);
  });

  test('are in responses of every kind', async () => {
    const person = await stack.person();
    const anonymous = new Client();
    const key = (await person.post('/api/keys', { name: 'k' })).body.key as string;
    const withKey = stack.caller({ 'X-API-Key': key });
    for (const answer of [
      await person.get('/api/topics'),
      await person.get(`/api/topics/${newTopicName()}`),
      await person.post('/api/topics', {}),
      await person.get('/nowhere/at/all'),
      await person.delete(`/${open.name}`),
      await withKey.get('/api/topics'),
      await withKey.publish(newTopicName()),
      await person.client.call('POST', '/api/topics', { text: '{' }),
    ])
      expect(budgetOf(answer)).toMatchObject({ limit: 10, remaining: 10 });
    const asked = [
      await anonymous.call('GET', '/api/topics'),
      await anonymous.call('GET', `/api/topics/${newTopicName()}`),
      await anonymous.call('POST', '/api/topics', { json: {} }),
      await anonymous.call('GET', '/nowhere/at/all'),
      await anonymous.call('DELETE', `/${open.name}`),
      await anonymous.call('POST', '/auth/login', { json: {} }),
      await anonymous.call('GET', '/api/users/me', { token: 'nonsense' }),
      await anonymous.call('GET', '/api/users/me', { headers: { 'X-API-Key': 'toc_nonsense' } }),
    ];
    asked.forEach((answer, index) => expect(budgetOf(answer)).toMatchObject({ limit: 60, remaining: 59 - index }));
  });

  test('of a 429 say when to retry', async () => {
    const person = await stack.person();
    await Promise.all(Array.from({ length: 10 }, () => person.publish(open.name)));
    const refused = await person.publish(open.name);
    expect(refused.status).toBe(429);
    const { limit, remaining, resetIn } = budgetOf(refused);
    expect([limit, remaining]).toEqual([10, 0]);
    expectSoon(resetIn, 60);
    // The server computed the header when it responded, and this process computes `resetIn` later.
    expect(Math.abs(Number(refused.headers.get('retry-after')) - resetIn)).toBeLessThan(15);
    const read = await person.get('/api/topics');
    expect(read.status).toBe(200);
    expect(budgetOf(read)).toMatchObject({ limit: 10, remaining: 0 });
  });
});

test('counts only accepted publishes', async () => {
  const person = await stack.person();
  const closed = await createTopic(await stack.person(), { access_level: 'private' });
  const call = person.client.call.bind(person.client);
  expect((await call('POST', `/${newTopicName()}`, { text: 'x' })).status).toBe(404);
  expect((await call('POST', `/${closed.name}`, { text: 'x' })).status).toBe(403);
  expect((await call('POST', `/${open.name}`, { text: '' })).status).toBe(422);
  expect((await call('POST', `/${open.name}?template=grafana`, { text: '{}' })).status).toBe(422);
  expect((await call('POST', `/${open.name}`, { text: 'x'.repeat(70_000) })).status).toBe(413);
  expect((await call('POST', '/', { text: '{' })).status).toBe(400);
  expect((await call('POST', `/${open.name}`, { text: 'x', headers: { 'X-Priority': '9' } })).status).toBe(422);
  const once = { text: 'x', headers: { 'Idempotency-Key': 'once' } };
  expect(budgetOf(await call('POST', `/${open.name}`, once)).remaining).toBe(9);
  expect(budgetOf(await call('POST', `/${open.name}`, once)).remaining).toBe(9);
  expect(budgetOf(await call('PUT', '/', { json: { topic: open.name, message: 'x' } })).remaining).toBe(8);
});

describe('an account has one rate limit', () => {
  async function publishers(owner: Person) {
    const topic = await createTopic(owner);
    const { key } = (await owner.post('/api/keys', { name: 'k' })).body;
    const { token } = (
      await owner.post(`/api/topics/${topic.name}/access-tokens`, { name: 't', permissions: ['write'] })
    ).body;
    return { topic, all: [owner, stack.caller({ 'X-API-Key': key }), stack.caller({ 'X-Topic-Token': token })] };
  }

  test('shared by login, key and topic token', async () => {
    const { topic, all } = await publishers(await stack.person());
    const remaining = [];
    for (const caller of all) remaining.push(budgetOf(await caller.publish(topic.name)).remaining);
    expect(remaining).toEqual([9, 8, 7]);
  });

  test('that publishes of other accounts to its topic do not use', async () => {
    const owner = await stack.person();
    const topic = await createTopic(owner);
    await stack.caller().publish(topic.name);
    await (await stack.person()).publish(topic.name);
    expect(budgetOf(await owner.get('/api/topics/my')).remaining).toBe(10);
  });
});

test('health checks, metrics and preflights do not count', async () => {
  const client = new Client();
  for (const path of ['/health/live', '/health/ready', '/metrics', '/v1/health'])
    expect((await client.call('GET', path)).headers.get('x-ratelimit-limit')).toBeNull();
  await client.call('OPTIONS', `/${open.name}`, {
    headers: { Origin: new URL(testStack().urls[0]!).origin, 'Access-Control-Request-Method': 'POST' },
  });
  expect(budgetOf(await client.call('GET', '/api/topics')).remaining).toBe(59);
});
