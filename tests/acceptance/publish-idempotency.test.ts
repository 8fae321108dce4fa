import { expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { Client, createTopic, type Answer } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();

const send = (client: Client, name: string, key: string, { text = 'x', node = 0 } = {}): Promise<Answer> =>
  client.call('POST', `/${name}`, { text, node, headers: { 'Idempotency-Key': key } });
const texts = async (name: string) =>
  (await new Client().call('GET', `/${name}/json`)).body.messages.map(({ message }: { message: string }) => message);

test('the same key returns the first result and publishes nothing, also with another text and on another node', async () => {
  const topic = await createTopic(await stack.person());
  const client = new Client();
  const key = randomUUID();
  const first = await send(client, topic.name, key, { text: 'one' });
  expect(first.headers.get('idempotency-replayed')).toBeNull();
  const again = await send(client, topic.name, key, { text: 'two', node: 1 });
  expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
  expect(again.body).toEqual(first.body);
  const asJson = await client.call('POST', '/', {
    json: { topic: topic.name, message: 'three' },
    headers: { 'Idempotency-Key': key },
  });
  expect([asJson.headers.get('idempotency-replayed'), asJson.body.id]).toEqual(['true', first.body.id]);
  expect(await texts(topic.name)).toEqual(['one']);
});

test('a key belongs to one publisher on one topic', async () => {
  const owner = await stack.person();
  const topic = await createTopic(owner);
  const other = await createTopic(owner);
  const { token } = (await owner.post(`/api/topics/${topic.name}/access-tokens`, { name: 't', permissions: ['write'] }))
    .body;
  const key = randomUUID();
  const publishes = [
    await send(owner.client, topic.name, key, { text: 'owner' }),
    await send(owner.client, other.name, key, { text: 'elsewhere' }),
    await send((await stack.person()).client, topic.name, key, { text: 'somebody' }),
    await send(new Client(token as string), topic.name, key, { text: 'token' }),
    await send(new Client(), topic.name, key, { text: 'an address' }),
    await send(new Client(), topic.name, key, { text: 'another address' }),
  ];
  expect(publishes.map(({ status, headers }) => [status, headers.get('idempotency-replayed')])).toEqual(
    publishes.map(() => [200, null]),
  );
  const { key: apiKey } = (await owner.post('/api/keys', { name: 'k' })).body;
  expect(
    (await send(new Client(apiKey as string), topic.name, key, { text: 'the owner by a key' })).headers.get(
      'idempotency-replayed',
    ),
  ).toBe('true');
  expect(await texts(topic.name)).toEqual(['owner', 'somebody', 'token', 'an address', 'another address']);
});

test('a replay returns the current message: edited, or redacted after its deletion', async () => {
  const owner = await stack.person({ tier: 'ESSENTIALS' });
  const topic = await createTopic(owner);
  const client = new Client();
  const key = randomUUID();
  const { id } = (await send(client, topic.name, key, { text: 'one' })).body;
  await owner.patch(`/api/${topic.name}/messages/${id}`, { message: 'two' });
  expect((await send(client, topic.name, key)).body).toMatchObject({ id, message: 'two', is_edited: true });
  await owner.delete(`/api/${topic.name}/messages/${id}`);
  expect((await send(client, topic.name, key)).body).toMatchObject({ id, message: '', is_deleted: true });
});

test('a replay does not count against rate limits', async () => {
  const owner = await stack.person();
  const topic = await createTopic(owner);
  const key = randomUUID();
  const first = await send(owner.client, topic.name, key);
  const again = await send(owner.client, topic.name, key);
  expect(first.headers.get('x-ratelimit-remaining')).toBe('9');
  expect(again.headers.get('x-ratelimit-remaining')).toBe('9');
  for (let rest = 8; rest >= 0; rest -= 1)
    expect((await owner.publish(topic.name)).headers.get('x-ratelimit-remaining')).toBe(`${rest}`);
  expect((await owner.publish(topic.name)).status).toBe(429);
  expect((await send(owner.client, topic.name, key)).status).toBe(200);
});

test('a refused publish does not use its key', async () => {
  const topic = await createTopic(await stack.person());
  const client = new Client();
  const key = randomUUID();
  expect((await send(client, topic.name, key, { text: '' })).status).toBe(422);
  expect(
    (await client.call('POST', `/${topic.name}`, { text: 'x', headers: { 'Idempotency-Key': key, 'X-Priority': '9' } }))
      .status,
  ).toBe(422);
  const accepted = await send(client, topic.name, key, { text: 'now' });
  expect([accepted.status, accepted.headers.get('idempotency-replayed')]).toEqual([200, null]);
});

test('of concurrent publishes with one key on all nodes one is published; the others get its result or 409', async () => {
  // Enough that on any machine some arrive while the first is in progress.
  const keys = Array.from({ length: 5 }, () => randomUUID());
  const refusals = (await Promise.all(keys.map(publishAtOnce))).flat();
  expect(refusals).not.toHaveLength(0);
  for (const refused of refusals) {
    expect(refused).toMatchObject({ status: 409, body: { detail: 'Request in progress' } });
    expect(refused.headers.get('retry-after')).toBe('1');
  }
});

/** Publishes 20 times with the key and expects one message. Resolves with the refused responses. */
async function publishAtOnce(key: string): Promise<Answer[]> {
  const topic = await createTopic(await stack.person());
  const client = new Client();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => send(client, topic.name, key, { text: `${index}`, node: index })),
  );
  const [accepted, refused] = [
    answers.filter(({ status }) => status === 200),
    answers.filter(({ status }) => status !== 200),
  ];
  expect(new Set(accepted.map(({ body }) => body.id)).size).toBe(1);
  expect(accepted.filter(({ headers }) => headers.get('idempotency-replayed') === null)).toHaveLength(1);
  expect(await texts(topic.name)).toHaveLength(1);
  return refused;
}

test.each(['', '   ', 'k'.repeat(129)])('returns 422 for the key "%s"', async (key) => {
  const topic = await createTopic(await stack.person());
  expect(await send(new Client(), topic.name, key)).toMatchObject({
    status: 422,
    body: { detail: 'Idempotency-Key: must be 1 to 128 characters' },
  });
});

test('accepts keys of up to 128 characters', async () => {
  const topic = await createTopic(await stack.person());
  expect((await send(new Client(), topic.name, 'k'.repeat(128))).status).toBe(200);
});
