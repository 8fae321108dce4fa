import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { write } from '@tocsin/shared/ports/documents.ts';
import { logConsumers } from '@tocsin/shared/collections/log-consumers.ts';
import { newConsumer } from '@tocsin/shared/testing/builders.ts';
import { createTopic } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';
import { useStore } from '../support/use-store.ts';

const stack = useStack();
const store = useStore();
let owner: Person;
let topic: { id: string; name: string };
let offsets: number[];

beforeAll(async () => {
  owner = await stack.person({ tier: 'TEAM' });
  topic = await createTopic(owner);
  offsets = [];
  for (const text of ['one', 'two', 'three'])
    offsets.push((await stack.caller().publish(topic.name, text)).body.offset);
});

const path = (name: string, of = topic.name) => `/api/topics/${of}/consumers/${name}`;

/** The reader's consumer with this number. */
const consumerOf = (reader: Person, number: number) =>
  newConsumer({ topicId: topic.id, name: `m${number}`, offset: number }, { ownerId: reader.id });

test('limits an owner to a hundred consumers per topic under concurrent creation', async () => {
  const reader = await stack.person();
  for (let made = 0; made < 95; made += 1) {
    await store.documents().insert(logConsumers, consumerOf(reader, made));
  }
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) => reader.put(path(`c${index}`), { offset: index })),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
  for (const answer of answers.filter(({ status }) => status !== 200)) {
    expect(answer).toMatchObject({ status: 403, body: { detail: 'Consumer limit reached' } });
  }
  expect((await reader.get(`/api/topics/${topic.name}/consumers`)).body).toHaveLength(100);
  expect((await reader.put(path('m0'), { offset: 5 })).body.offset).toBe(5);
  expect((await (await stack.person()).put(path('c'), { offset: 0 })).status).toBe(200);
});

test('concurrent updates of the last allowed consumer use one place', async () => {
  const reader = await stack.person();
  await store
    .documents()
    .commit(Array.from({ length: 99 }, (_, made) => write.insert(logConsumers, consumerOf(reader, made))));
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, node) => reader.client.call('PUT', path('last'), { json: { offset: 1 }, node })),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array<number>(8).fill(200));
});

async function topicToken(permissions: string[], of = topic.name) {
  const { token, id } = (await owner.post(`/api/topics/${of}/access-tokens`, { name: 't', permissions })).body;
  return { id: id as string, by: stack.caller({ 'X-Topic-Token': token }) };
}

describe('a consumer ends', () => {
  const left = (topicId: string) => store.documents().count(logConsumers, { index: 'name', equals: { topicId } });

  test('with its topic, and a new topic of the same name has none', async () => {
    const own = await createTopic(owner);
    const { by } = await topicToken(['read'], own.name);
    await owner.put(path('a', own.name), { offset: 0 });
    await by.put(path('b', own.name), { offset: 0 });
    expect(await left(own.id)).toBe(2);
    expect((await owner.delete(`/api/topics/${own.id}`)).status).toBe(204);
    await eventually(async () => expect(await left(own.id)).toBe(0));
    await createTopic(owner, { name: own.name });
    expect((await owner.get(path('a', own.name))).status).toBe(404);
  });

  test('with its topic token and not with another', async () => {
    const own = await createTopic(owner);
    const [gone, kept] = [await topicToken(['read'], own.name), await topicToken(['read'], own.name)];
    for (const { by } of [gone, kept]) await by.put(path('a', own.name), { offset: 0 });
    expect((await owner.delete(`/api/topics/${own.name}/access-tokens/${gone.id}`)).status).toBe(204);
    expect(await left(own.id)).toBe(1);
    expect((await kept.by.get(path('a', own.name))).status).toBe(200);
    expect((await gone.by.put(path('a', own.name), { offset: 0 })).status).toBe(401);
  });

  test('with a token that is deleted while it creates consumers', async () => {
    const own = await createTopic(owner);
    const { id, by } = await topicToken(['read'], own.name);
    const making = Array.from({ length: 20 }, () => by.put(path(randomUUID(), own.name), { offset: 0 }));
    await making[0];
    expect((await owner.delete(`/api/topics/${own.name}/access-tokens/${id}`)).status).toBe(204);
    for (const { status } of await Promise.all(making)) expect([200, 401]).toContain(status);
    expect(await left(own.id)).toBe(0);
  });
});
