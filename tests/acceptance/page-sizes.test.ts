import { beforeAll, expect, test } from '@jest/globals';
import { Client, createTopic } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
const messageCount = 201;
let owner: Person;
let topic: { id: string; name: string };

// More items of each kind than the longest page. One account's rate limit does not allow that many messages.
beforeAll(async () => {
  owner = await stack.person();
  topic = await createTopic(owner, { is_discoverable: true, description: 'd' });
  await owner.post('/api/subscriptions', { topic_name: topic.name });
  // Items that count against a limit of one account are created almost sequentially: concurrent creations wait for each
  // other.
  await inBatches(100, () => createTopic(owner, { is_discoverable: true, description: 'd' }), 3);
  const publishers = Array.from({ length: 5 }, () => new Client());
  await inBatches(messageCount, async (index) => {
    expect((await publishers[index % 5]!.call('POST', `/${topic.name}`, { text: `${index}` })).status).toBe(200);
  });
  const schedulers = Array.from({ length: 3 }, () => new Client());
  const scheduled = { text: 'x', headers: { Delay: '1d' } };
  const schedule = async (index: number) =>
    expect((await schedulers[index % 3]!.call('POST', `/${topic.name}`, scheduled)).status).toBe(200);
  await inBatches(101, schedule, 3);
});

async function inBatches(count: number, act: (index: number) => Promise<unknown>, size = 20): Promise<void> {
  for (let from = 0; from < count; from += size) {
    await Promise.all(Array.from({ length: Math.min(size, count - from) }, (_, index) => act(from + index)));
  }
}

/** The default page size, the longest page, and a size beyond the limit. */
test.each([
  ['/api/topics', 50, 100],
  ['/api/topics/my', 50, 100],
  ['/api/topics/public', 50, 100],
  ['/api/topics/{name}/messages', 50, 100],
  ['/api/messages/search', 50, 100],
  ['/api/messages/scheduled', 50, 100],
  ['/api/messages/recent', 100, 200],
  ['/{name}/json', 50, 100],
  ['/api/topics/{name}/log', 100, 1_000],
])('a page of %s has %i items by default and at most %i', async (form, byDefault, atMost) => {
  const path = form.replace('{name}', topic.name);
  const lengthOf = async (query: string) => {
    const { status, body } = await owner.get(path + query);
    expect(status).toBe(200);
    return (Array.isArray(body) ? body : (body.messages ?? body.records)).length as number;
  };
  expect(await lengthOf('')).toBe(byDefault);
  expect(await lengthOf('?limit=1')).toBe(1);
  // The log's longest page is longer than the log.
  expect(await lengthOf(`?limit=${atMost}`)).toBe(Math.min(atMost, messageCount));
  expect(await owner.get(`${path}?limit=${atMost + 1}`)).toMatchObject({
    status: 422,
    body: { detail: expect.stringMatching(/^limit: /) },
  });
  expect(await owner.get(`${path}?limit=0`)).toMatchObject({
    status: 422,
    body: { detail: expect.stringMatching(/^limit: /) },
  });
});

test.each([
  '/api/topics',
  '/api/topics/my',
  '/api/topics/public',
  '/api/topics/{name}/messages',
  '/api/messages/search',
  '/api/messages/scheduled',
])('a numbered page of %s has 20 items by default and at most 100', async (form) => {
  const path = form.replace('{name}', topic.name);
  const lengthOf = async (query: string) => {
    const { body, headers } = await owner.get(path + query);
    const length = (Array.isArray(body) ? body : body.messages).length as number;
    expect(headers.get('x-per-page')).toBe(String(length));
    expect(Number(headers.get('x-total-count'))).toBeGreaterThan(100);
    return { length, page: headers.get('x-page') };
  };
  expect(await lengthOf('?page=2')).toEqual({ length: 20, page: '2' });
  expect(await lengthOf('?per_page=100')).toEqual({ length: 100, page: '1' });
  for (const unread of ['limit=7&offset=90', 'limit=0&offset=-1', 'limit=all', 'limit=1&limit=2']) {
    expect(await lengthOf(`?page=1&per_page=3&${unread}`)).toEqual({ length: 3, page: '1' });
  }
  for (const query of ['page=0', 'per_page=0', 'per_page=101'])
    expect((await owner.get(`${path}?${query}`)).status).toBe(422);
});

test('lists without paging return all items', async () => {
  const reader = await stack.person();
  const names: string[] = (await owner.get('/api/topics/my?limit=100')).body.map(({ name }: { name: string }) => name);
  await inBatches(60, (index) => reader.post('/api/subscriptions', { topic_name: names[index] }), 3);
  await inBatches(60, (index) => reader.post('/api/keys', { name: `k${index}` }), 3);
  expect((await reader.get('/api/subscriptions?limit=1')).body.subscriptions).toHaveLength(60);
  expect((await reader.get('/api/keys?page=1')).body).toHaveLength(60);
});
