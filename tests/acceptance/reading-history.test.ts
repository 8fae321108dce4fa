import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { Client, createTopic, type Answer } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
let owner: Person;

beforeAll(async () => {
  owner = await stack.person({ tier: 'TEAM' });
});

const texts = (answer: Answer): string[] => answer.body.messages.map(({ message }: { message: string }) => message);
const read = (name: string, query = '') => new Client().call('GET', `/${name}/json${query}`);

async function topicWith(count: number) {
  const topic = await createTopic(owner);
  const messages = [];
  const client = new Client();
  for (let index = 1; index <= count; index += 1)
    messages.push((await client.call('POST', `/${topic.name}`, { text: `${index}` })).body);
  return { ...topic, messages };
}

describe('the history of a topic', () => {
  let topic: Awaited<ReturnType<typeof topicWith>>;
  beforeAll(async () => {
    topic = await topicWith(6);
  });

  test('is oldest first and has the messages as the publish returned them', async () => {
    const { status, body } = await read(topic.name);
    expect([status, body]).toEqual([200, { messages: topic.messages, topic: topic.name, count: 6 }]);
  });

  test('without `since` returns the newest `limit` messages', async () => {
    const answer = await read(topic.name, '?limit=2');
    expect(texts(answer)).toEqual(['5', '6']);
    expect(answer.body.count).toBe(2);
  });

  test('with `since` returns the first `limit` messages after it, excluding a given ID in any case', async () => {
    const id = topic.messages[1].id as string;
    expect(texts(await read(topic.name, `?since=${id}`))).toEqual(['3', '4', '5', '6']);
    expect(texts(await read(topic.name, `?since=${id.toUpperCase()}&limit=2`))).toEqual(['3', '4']);
    expect(texts(await read(topic.name, `?since=${topic.messages[5].id}`))).toEqual([]);
    expect(texts(await read(topic.name, '?since=all&limit=3'))).toEqual(['1', '2', '3']);
    expect(texts(await read(topic.name, '?since='))).toHaveLength(6);
  });

  test('since a time includes that instant in every notation', async () => {
    const { timestamp } = topic.messages[2];
    const time = Date.parse(timestamp);
    const expected = topic.messages
      .filter((message: { timestamp: string }) => Date.parse(message.timestamp) >= time)
      .map(({ message }: { message: string }) => message);
    const abroad = new Date(time + 2 * 3_600_000).toISOString().replace('Z', '+02:00');
    for (const since of [timestamp, timestamp.replace('Z', ''), encodeURIComponent(abroad), abroad, `${time / 1000}`]) {
      expect(texts(await read(topic.name, `?since=${since}`))).toEqual(expected);
    }
    expect(texts(await read(topic.name, `?since=${Math.floor(time / 1000)}`)).length).toBeGreaterThanOrEqual(
      expected.length,
    );
    expect(texts(await read(topic.name, `?since=${timestamp.slice(0, 10)}`)).length).toBeGreaterThan(0);
  });

  test.each(['10m', '2h', '7d', '999999999d', '300s', '0', '1577836800', '2020-01-01'])(
    'since=%s starts before the message',
    async (since) => {
      expect(texts(await read(topic.name, `?since=${since}`))).toHaveLength(6);
    },
  );

  test.each(['2100-01-01', '4102444800', '999999999999'])('since=%s starts after the message', async (since) => {
    expect(await read(topic.name, `?since=${since}`)).toMatchObject({ status: 200, body: { messages: [], count: 0 } });
  });

  test('since an unknown ID starts from the time in the ID', async () => {
    const id = topic.messages[3].id as string;
    const unknown = `${id.slice(0, 14)}7${id.slice(15, 24)}000000000000`;
    expect(texts(await read(topic.name, `?since=${unknown}`))).toContain('4');
  });

  test.each([
    'since=yesterday',
    'since=10x',
    'since=2026-02-30',
    'since=3f2504e0-4f89-41d3-9a0c-0305e82c3301',
    'since=all&since=all',
    'limit=0',
    'limit=101',
    'limit=ten',
    'poll=2',
    'poll=yes',
    'wait=61',
    'wait=-1',
    'wait=1.5',
  ])('?%s returns 422', async (query) => {
    const answer = await read(topic.name, `?${query}`);
    expect(answer.status).toBe(422);
    expect(answer.body.detail).toMatch(new RegExp(`^${query.split('=')[0]}: `));
  });

  test.each(['poll=0', 'poll=1', 'poll=true', 'unknown=1', 'wait=0'])('?%s responds immediately', async (query) => {
    expect((await read(topic.name, `?${query}`)).status).toBe(200);
  });

  test('is found by name case-insensitively and shows the original spelling', async () => {
    expect((await read(topic.name.toUpperCase())).body.topic).toBe(topic.name);
  });
});

test('a page has at most 100 messages, and paging by `since` has no gaps or duplicates', async () => {
  const topic = await createTopic(owner);
  const clients = [new Client(), new Client()];
  const published: string[] = [];
  for (let index = 0; index < 110; index += 1) {
    published.push(
      (await clients[index % 2]!.call('POST', `/${topic.name}`, { text: `${index}`, node: index })).body.id,
    );
  }
  expect((await read(topic.name)).body.count).toBe(50);
  expect((await read(topic.name, '?limit=100')).body.messages.map(({ id }: { id: string }) => id)).toEqual(
    published.slice(-100),
  );
  const seen: string[] = [];
  const reader = new Client();
  for (let since = 'all'; ; since = seen.at(-1)!) {
    const { body } = await reader.call('GET', `/${topic.name}/json?limit=7&since=${since}`, { node: seen.length });
    if (body.count === 0) break;
    seen.push(...body.messages.map(({ id }: { id: string }) => id));
  }
  expect(seen).toEqual(published);
});

describe('`wait`', () => {
  test('holds an empty response until a message arrives', async () => {
    const topic = await createTopic(owner);
    for (const query of ['?wait=20', '?wait=20&since=all']) {
      const own = await createTopic(owner);
      let isAnswered = false;
      const waiting = new Client()
        .call('GET', `/${own.name}/json${query}`, { node: 1 })
        .finally(() => (isAnswered = true));
      await pause(200); // only waiting shows that the response is held
      expect(isAnswered).toBe(false);
      await stack.caller().publish(own.name, 'at last');
      expect(texts(await waiting)).toEqual(['at last']);
    }
    await stack.caller().publish(topic.name, 'there already');
    expect(texts(await read(topic.name, '?wait=20'))).toEqual(['there already']);
  });

  test('returns no messages when the time is over', async () => {
    const topic = await createTopic(owner);
    const startedAt = performance.now();
    expect(await read(topic.name, '?wait=1')).toMatchObject({ status: 200, body: { messages: [], count: 0 } });
    expect(performance.now() - startedAt).toBeGreaterThan(950);
  });

  test('continues after an ID', async () => {
    const topic = await topicWith(1);
    const waiting = read(topic.name, `?wait=20&since=${topic.messages[0].id}`);
    await stack.caller().publish(topic.name, 'two');
    expect(texts(await waiting)).toEqual(['two']);
  });
});

describe('a private topic', () => {
  let name: string;
  let reading: string;
  let writing: string;
  beforeAll(async () => {
    ({ name } = await createTopic(owner, { access_level: 'private' }));
    const tokens = `/api/topics/${name}/access-tokens`;
    reading = (await owner.post(tokens, { name: 'r', permissions: ['read'] })).body.token;
    writing = (await owner.post(tokens, { name: 'w', permissions: ['write'] })).body.token;
    await owner.publish(name, 'secret');
  });

  test.each(['/json', '/sse'])(
    '%s refuses other accounts, anonymous callers and tokens without `read`',
    async (path) => {
      const get = async (headers: Record<string, string>) => {
        const { status, body } = await new Client().call('GET', `/${name}${path}`, { headers });
        return [status, body.detail];
      };
      expect(await get({})).toEqual([401, 'Not authenticated']);
      const noAccess = [403, 'Insufficient permissions to access this topic'];
      expect(await get({ Authorization: `Bearer ${(await stack.person()).client.token}` })).toEqual(noAccess);
      expect(await get({ 'X-Topic-Token': writing })).toEqual(noAccess);
      const other = await createTopic(owner);
      const { token } = (
        await owner.post(`/api/topics/${other.name}/access-tokens`, { name: 'r', permissions: ['read'] })
      ).body;
      expect(await get({ 'X-Topic-Token': token })).toEqual(noAccess);
      const { key } = (await owner.post('/api/keys', { name: 'k', scopes: ['publish', 'topics:read'] })).body;
      expect(await get({ 'X-API-Key': key })).toEqual([403, 'Missing scope: subscribe']);
    },
  );

  test('is readable by its owner, a key with the scope and a token with `read`', async () => {
    const { key } = (await owner.post('/api/keys', { name: 'k', scopes: ['subscribe'] })).body;
    const ways: Record<string, string>[] = [
      { Authorization: `Bearer ${owner.client.token}` },
      { 'X-API-Key': key as string },
      { 'X-Topic-Token': reading },
    ];
    for (const headers of ways) {
      expect(texts(await new Client().call('GET', `/${name}/json`, { headers }))).toEqual(['secret']);
    }
  });

  test('reads the query credential from api_key, not from token', async () => {
    const { key } = (await owner.post('/api/keys', { name: 'k', scopes: ['subscribe'] })).body;
    expect((await read(name, `?api_key=${key}`)).status).toBe(200);
    expect((await read(name, `?token=${reading}`)).status).toBe(401);
  });
});
