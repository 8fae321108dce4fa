import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { createTopic, newTopicName } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();

test('a PATCH changes the given fields, null clears an icon, and an empty PATCH has no effect', async () => {
  const owner = await stack.person();
  const topic = await createTopic(owner, { description: 'one', icon_name: 'bell', icon_color: '#000000' });
  const patch = (body: object) => owner.patch(`/api/topics/${topic.id}`, body);
  const { subscription_warning: _, ...shown } = topic as unknown as Record<string, unknown>;
  expect(await patch({})).toMatchObject({ status: 200, body: shown });
  expect(await owner.client.call('PATCH', `/api/topics/${topic.id}`)).toMatchObject({ status: 200, body: shown });
  const changed = await patch({
    description: 'two',
    is_discoverable: true,
    icon_name: null,
    icon_color: '#FFFFFF',
    team_id: randomUUID(),
  });
  expect(changed).toMatchObject({
    status: 200,
    body: { ...shown, description: 'two', is_discoverable: true, icon_name: null, icon_color: '#FFFFFF' },
  });
  for (const field of ['name', 'access_level', 'description', 'is_discoverable']) {
    expect(await patch({ [field]: null })).toMatchObject({
      status: 422,
      body: { detail: expect.stringMatching(`^${field}: `) },
    });
  }
  expect(await patch({ description: ' ' })).toMatchObject({
    status: 422,
    body: { detail: 'description: is required for a discoverable public topic' },
  });
  expect((await patch({ description: '', is_discoverable: false })).status).toBe(200);
});

test('a renamed topic is found only by its new name, and the old name becomes available', async () => {
  const owner = await stack.person();
  const topic = await createTopic(owner);
  const name = newTopicName();
  await owner.publish(topic.name, 'kept');
  expect(await owner.patch(`/api/topics/${topic.id}`, { name })).toMatchObject({
    status: 200,
    body: { id: topic.id, name, message_count: 1 },
  });
  expect((await owner.get(`/api/topics/${topic.name}`)).status).toBe(404);
  expect((await owner.get(`/api/topics/${name}`)).body.id).toBe(topic.id);
  expect((await owner.post('/api/topics', { name: topic.name })).status).toBe(201);
  expect(await owner.patch(`/api/topics/${topic.id}`, { name: topic.name.toUpperCase() })).toMatchObject({
    status: 409,
    body: { detail: 'Topic name already exists' },
  });
  expect(await owner.patch(`/api/topics/${topic.id}`, { name: name.toUpperCase() })).toMatchObject({
    status: 200,
    body: { name: name.toUpperCase() },
  });
  expect(await owner.patch(`/api/topics/${topic.id}`, { name: 'admin' })).toMatchObject({
    status: 422,
    body: { detail: 'name: is reserved, choose another' },
  });
});

test('only managers of a topic change or delete it', async () => {
  const [owner, other] = [await stack.person(), await stack.person()];
  const topic = await createTopic(owner);
  const forbidden = { status: 403, body: { detail: 'Insufficient permissions to access this topic' } };
  const path = `/api/topics/${topic.id}`;
  expect(await other.patch(path, { name: 'x' })).toMatchObject(forbidden);
  expect(await other.delete(path)).toMatchObject(forbidden);
  expect((await stack.caller().patch(path, {})).status).toBe(401);
  expect((await stack.caller().delete(path)).status).toBe(401);
  for (const method of ['patch', 'delete'] as const) {
    expect(await owner[method](`/api/topics/${randomUUID()}`, method === 'patch' ? {} : undefined)).toMatchObject({
      status: 404,
      body: { detail: 'Topic not found' },
    });
    expect(await owner[method](`/api/topics/${topic.name}`, method === 'patch' ? {} : undefined)).toMatchObject({
      status: 422,
      body: { detail: 'topic_id: must be a UUID' },
    });
  }
  const byKey = stack.caller({
    'X-API-Key': (await owner.post('/api/keys', { name: 'k', scopes: ['topics:read'] })).body.key,
  });
  expect(await byKey.delete(path)).toMatchObject({ status: 403, body: { detail: 'Missing scope: topics:write' } });
});

test("a deleted topic's messages do not appear in a new topic with its name", async () => {
  const owner = await stack.person();
  const topic = await createTopic(owner);
  await owner.publish(topic.name, 'secret');
  expect((await owner.delete(`/api/topics/${topic.id}`)).status).toBe(204);
  expect((await owner.delete(`/api/topics/${topic.id}`)).status).toBe(404);
  for (const answer of [
    await owner.get(`/api/topics/${topic.name}`),
    await owner.get(`/${topic.name}/json`),
    await owner.publish(topic.name),
  ]) {
    expect(answer.status).toBe(404);
  }
  const again = await createTopic(owner, { name: topic.name });
  expect(again.id).not.toBe(topic.id);
  expect((await owner.get(`/${topic.name}/json`)).body).toMatchObject({ messages: [], count: 0 });
  expect((await owner.get(`/api/topics/${topic.name}`)).body).toMatchObject({
    message_count: 0,
    last_message_at: null,
  });
});

test('concurrent changes of one topic are all applied', async () => {
  const owner = await stack.person();
  const topic = await createTopic(owner);
  const changes = [
    { description: 'd' },
    { icon_name: 'bell' },
    { icon_color: '#123456' },
    { is_discoverable: true, description: 'd' },
  ];
  const answers = await Promise.all(changes.map((change) => owner.patch(`/api/topics/${topic.id}`, change)));
  expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 200]);
  expect((await owner.get(`/api/topics/${topic.name}`)).body).toMatchObject({
    description: 'd',
    icon_name: 'bell',
    icon_color: '#123456',
    is_discoverable: true,
  });
});
