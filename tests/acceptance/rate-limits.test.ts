import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Tier } from '@tocsin/shared/domain/accounts/tiers.ts';
import { Client, createTopic, newTopicName, testStack, type Answer } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
const nodes = testStack().urls.length;

/** What an answer says of its budget; the reset in seconds from now. */
function budgetOf({ headers }: Answer) {
  const number = (name: string) => Number(headers.get(name));
  return {
    limit: number('x-ratelimit-limit'),
    remaining: number('x-ratelimit-remaining'),
    resetIn: number('x-ratelimit-reset') - Date.now() / 1_000,
  };
}

/** The answer of a moment ago says so many seconds, on a machine that may be slow. */
const expectSoon = (seconds: number, atMost: number) => {
  expect(seconds).toBeGreaterThan(atMost - 30);
  expect(seconds).toBeLessThanOrEqual(atMost + 1);
};

/** A TEAM topic that anyone may publish to, so that its own limits matter to nobody. */
let open: { id: string; name: string };
beforeAll(async () => {
  open = await createTopic(await stack.person({ tier: 'TEAM' }));
});

describe('of 500 concurrent publishes over all nodes exactly those are accepted that the minute allows', () => {
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

test('of 500 concurrent requests without a credential from one address 60 are served', async () => {
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
}, 120_000);

describe('the headers', () => {
  test('show a window not begun as ending a full length from now, and what is used after each publish', async () => {
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

  test('are on answers of every kind', async () => {
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

  test('on a 429 say when it is worth trying again', async () => {
    const person = await stack.person();
    await Promise.all(Array.from({ length: 10 }, () => person.publish(open.name)));
    const refused = await person.publish(open.name);
    expect(refused.status).toBe(429);
    const { limit, remaining, resetIn } = budgetOf(refused);
    expect([limit, remaining]).toEqual([10, 0]);
    expectSoon(resetIn, 60);
    // The header was made when the server answered, `resetIn` when this process got to it.
    expect(Math.abs(Number(refused.headers.get('retry-after')) - resetIn)).toBeLessThan(15);
    const read = await person.get('/api/topics');
    expect(read.status).toBe(200);
    expect(budgetOf(read)).toMatchObject({ limit: 10, remaining: 0 });
  });
});

test('only accepted publishes count', async () => {
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

describe('one account has one budget', () => {
  async function publishers(owner: Person) {
    const topic = await createTopic(owner);
    const { key } = (await owner.post('/api/keys', { name: 'k' })).body;
    const { token } = (
      await owner.post(`/api/topics/${topic.name}/access-tokens`, { name: 't', permissions: ['write'] })
    ).body;
    return { topic, all: [owner, stack.caller({ 'X-API-Key': key }), stack.caller({ 'X-Topic-Token': token })] };
  }

  test('by login, by key and by a token of its topic', async () => {
    const { topic, all } = await publishers(await stack.person());
    const remaining = [];
    for (const caller of all) remaining.push(budgetOf(await caller.publish(topic.name)).remaining);
    expect(remaining).toEqual([9, 8, 7]);
  });

  test('and what anyone else publishes to its topic is not its matter', async () => {
    const owner = await stack.person();
    const topic = await createTopic(owner);
    await stack.caller().publish(topic.name);
    await (await stack.person()).publish(topic.name);
    expect(budgetOf(await owner.get('/api/topics/my')).remaining).toBe(10);
  });
});

test('health, figures and preflights cost nothing', async () => {
  const client = new Client();
  for (const path of ['/health/live', '/health/ready', '/metrics', '/v1/health'])
    expect((await client.call('GET', path)).headers.get('x-ratelimit-limit')).toBeNull();
  await client.call('OPTIONS', `/${open.name}`, {
    headers: { Origin: new URL(testStack().urls[0]!).origin, 'Access-Control-Request-Method': 'POST' },
  });
  expect(budgetOf(await client.call('GET', '/api/topics')).remaining).toBe(59);
});
