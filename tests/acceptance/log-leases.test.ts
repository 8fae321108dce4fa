import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import { Client, createTopic, type Answer } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
let owner: Person;
let topic: { id: string; name: string };

beforeAll(async () => {
  owner = await stack.person({ tier: 'TEAM' });
  topic = await createTopic(owner);
});

/** One consumer with several programs. */
async function newConsumer(offset = 7) {
  const path = `/api/topics/${topic.name}/consumers/c${randomUUID()}`;
  expect((await owner.put(path, { offset })).status).toBe(200);
  const send = (method: string, json: unknown, lease?: string): Promise<Answer> =>
    owner.client.call(method, method === 'PUT' ? path : `${path}/lease`, {
      ...(json === undefined ? {} : { json }),
      ...(lease === undefined ? {} : { headers: { 'X-Lease': lease } }),
    });
  return {
    path,
    take: (ttl: unknown = 60, lease?: string) => send('POST', { ttl }, lease),
    move: (to: number, lease?: string) => send('PUT', { offset: to }, lease),
    giveBack: (lease?: string) => send('DELETE', undefined, lease),
  };
}

test('a lease is given to one program at a time, with the offset', async () => {
  const consumer = await newConsumer();
  const before = Date.now();
  const answers = await Promise.all(Array.from({ length: 5 }, () => consumer.take(60)));
  const taken = answers.filter(({ status }) => status === 200);
  expect(taken).toHaveLength(1);
  expect(taken[0]!.body).toEqual({
    lease: expect.stringMatching(/^cl_[\w-]{43}$/),
    expires_at: expect.stringMatching(/Z$/),
    offset: 7,
  });
  const lifetimeMs = Date.parse(taken[0]!.body.expires_at) - before;
  expect(lifetimeMs).toBeGreaterThan(55_000);
  expect(lifetimeMs).toBeLessThan(65_000);
  for (const { status, body, headers } of answers.filter((one) => one !== taken[0])) {
    expect({ status, body }).toEqual({ status: 409, body: { detail: 'Consumer is leased' } });
    expect(Number(headers.get('Retry-After'))).toBeGreaterThan(0);
    expect(Number(headers.get('Retry-After'))).toBeLessThanOrEqual(60);
  }
});

test('the holder extends its lease and moves the consumer', async () => {
  const consumer = await newConsumer();
  const { lease, expires_at } = (await consumer.take(20)).body;
  expect(await consumer.move(8, lease)).toMatchObject({ status: 200, body: { offset: 8 } });
  const extended = await consumer.take(300, lease);
  expect(extended).toMatchObject({ status: 200, body: { lease, offset: 8 } });
  expect(Date.parse(extended.body.expires_at)).toBeGreaterThan(Date.parse(expires_at));
});

test('a lease that is given back can be taken, and its former holder cannot move the consumer', async () => {
  const consumer = await newConsumer();
  const first = (await consumer.take()).body.lease;
  expect((await consumer.giveBack(first)).status).toBe(204);
  const second = (await consumer.take()).body.lease;
  expect(second).not.toBe(first);
  const lost = { status: 409, body: { detail: 'Lease was lost' } };
  expect(await consumer.move(9, first)).toMatchObject(lost);
  expect(await consumer.take(60, first)).toMatchObject(lost);
  for (const given of [first, undefined, 'x']) expect(await consumer.giveBack(given)).toMatchObject(lost);
  expect(await consumer.move(9, second)).toMatchObject({ status: 200, body: { offset: 9 } });
});

test('an expired lease can be taken; until then its holder can still move the consumer', async () => {
  const consumer = await newConsumer();
  const first = (await consumer.take(10)).body.lease;
  const retryAfter = Number((await consumer.take()).headers.get('Retry-After'));
  await new Promise((resolve) => setTimeout(resolve, (retryAfter + 0.5) * 1_000));
  expect(await consumer.move(8, first)).toMatchObject({ status: 200, body: { offset: 8 } });
  const second = await consumer.take();
  expect(second).toMatchObject({ status: 200, body: { offset: 8 } });
  expect(await consumer.move(9, first)).toMatchObject({ status: 409, body: { detail: 'Lease was lost' } });
});

test('without a lease, a leased consumer moves and is read as before', async () => {
  const consumer = await newConsumer();
  const { lease } = (await consumer.take()).body;
  expect(await consumer.move(3)).toMatchObject({ status: 200, body: { offset: 3 } });
  const { body } = await owner.get(consumer.path);
  expect(body.offset).toBe(3);
  expect(JSON.stringify(body)).not.toContain(lease);
  expect((await consumer.move(4, lease)).status).toBe(200);
});

test.each([[9], [301], [10.5], ['60'], [null]])('refuses a lease of %j seconds', async (ttl) => {
  const consumer = await newConsumer();
  const answer = await consumer.take(ttl);
  expect(answer.status).toBe(422);
  expect(answer.body.detail).toContain('ttl: ');
  expect((await consumer.take(10)).status).toBe(200);
});

test('only the owner of a consumer leases it', async () => {
  const { path } = await newConsumer();
  expect((await stack.caller().post(`${path}/lease`, { ttl: 60 })).status).toBe(401);
  const stranger = await stack.person();
  const unknown = { status: 404, body: { detail: 'Consumer not found' } };
  expect(await stranger.post(`${path}/lease`, { ttl: 60 })).toMatchObject(unknown);
  expect(await stranger.delete(`${path}/lease`)).toMatchObject(unknown);
  expect(await owner.post(`/api/topics/${topic.name}/consumers/none/lease`, { ttl: 60 })).toMatchObject(unknown);
  expect((await new Client().call('DELETE', `${path}/lease`)).status).toBe(401);
});
