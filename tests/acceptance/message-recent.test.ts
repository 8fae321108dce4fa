import { beforeAll, expect, test } from '@jest/globals';
import { createTopic, newTopicName } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';
import { asReader } from '../support/as-reader.ts';

const stack = useStack();
let reader: Person;
let other: Person;
let followed: { id: string; name: string }[];
let unfollowed: { id: string; name: string };
// oxlint-disable-next-line typescript/no-explicit-any -- a test asserts what it finds
const published: any[] = [];

beforeAll(async () => {
  [reader, other] = [await stack.person(), await stack.person({ tier: 'TEAM' })];
  followed = [await createTopic(other), await createTopic(other)];
  unfollowed = await createTopic(reader); // owning a topic does not subscribe to it
  for (const { name } of followed) await reader.post('/api/subscriptions', { topic_name: name });
  for (let index = 0; index < 6; index += 1)
    published.push(asReader((await other.publish(followed[index % 2]!.name, `${index}`)).body));
  await reader.publish(unfollowed.name, 'not followed');
});

const recent = (query = '') => reader.get(`/api/messages/recent${query}`);

test('returns messages of subscribed topics, newest first, as published', async () => {
  const { status, body } = await recent();
  expect([status, body]).toEqual([200, published.toReversed()]);
  expect((await recent('?limit=2')).body).toEqual(published.toReversed().slice(0, 2));
  expect((await recent('?limit=200')).body).toHaveLength(6);
});

test('returns only the named topic, and nothing without a subscription to it', async () => {
  const { id, name } = followed[0]!;
  expect((await recent(`?topic=${name}`)).body).toEqual(
    published.filter(({ topic_id }) => topic_id === id).toReversed(),
  );
  expect((await recent(`?topic=${name.toUpperCase()}&limit=1`)).body).toHaveLength(1);
  expect(await recent(`?topic=${unfollowed.name}`)).toMatchObject({ status: 200, body: [] });
  expect(await recent(`?topic=${newTopicName()}`)).toMatchObject({ status: 404, body: { detail: 'Topic not found' } });
  const secret = await createTopic(other, { access_level: 'private' });
  expect(await recent(`?topic=${secret.name}`)).toMatchObject({
    status: 403,
    body: { detail: 'Insufficient permissions to access this topic' },
  });
});

test('a subscription takes effect immediately and ends immediately, on every node', async () => {
  const [friend, topic] = [await stack.person(), await createTopic(other)];
  await other.publish(topic.name, 'before');
  const seen = async (node: number) =>
    (await friend.client.call('GET', '/api/messages/recent', { node })).body.length as number;
  expect([await seen(0), await seen(1)]).toEqual([0, 0]);
  await friend.post('/api/subscriptions', { topic_name: topic.name });
  expect([await seen(1), await seen(0)]).toEqual([1, 1]);
  await friend.delete(`/api/subscriptions/by-topic/${topic.name}`);
  expect([await seen(1), await seen(0)]).toEqual([0, 0]);
});

test('omits deleted messages and shows edited ones in their current form', async () => {
  const [friend, topic] = [await stack.person(), await createTopic(other)];
  await friend.post('/api/subscriptions', { topic_name: topic.name });
  const [one, two] = [(await other.publish(topic.name, 'one')).body, (await other.publish(topic.name, 'two')).body];
  await other.patch(`/api/${topic.name}/messages/${one.id}`, { message: 'ONE' });
  await other.delete(`/api/${topic.name}/messages/${two.id}`);
  expect((await friend.get('/api/messages/recent')).body).toMatchObject([
    { id: one.id, message: 'ONE', is_edited: true },
  ]);
});

test.each(['limit=0', 'limit=201', 'limit=x', 'limit=1&limit=2', 'topic=a&topic=b'])(
  '?%s returns 422',
  async (query) => {
    const { status, body } = await recent(`?${query}`);
    expect(status).toBe(422);
    expect(body.detail).toMatch(new RegExp(`^${query.split('=')[0]}: `));
  },
);
