import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { Client, createTopic, newTopicName } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
let owner: Person;
beforeAll(async () => {
  owner = await stack.person({ tier: 'ESSENTIALS' });
});

const deletion = (topic: { name: string }, id: string) => `/api/${topic.name}/messages/${id}`;

async function topicWith(texts: readonly string[], fields: Record<string, unknown> = {}) {
  const topic = await createTopic(owner, fields);
  const ids: string[] = [];
  for (const text of texts) ids.push((await owner.publish(topic.name, text)).body.id as string);
  return { ...topic, ids };
}

test('removes a deleted message from history and redacts its record in the log', async () => {
  const topic = await topicWith(['one', 'two', 'three']);
  const gone = topic.ids[1]!;
  const { status, body } = await owner.delete(deletion(topic, gone));
  expect([status, body]).toEqual([
    200,
    { id: gone, deleted_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/), message: 'Message deleted' },
  ]);
  const history = (await owner.get(`/${topic.name}/json`)).body.messages;
  expect(history.map(({ message }: { message: string }) => message)).toEqual(['one', 'three']);
  const { records } = (await owner.get(`/api/topics/${topic.name}/log`)).body;
  const emptied = expect.objectContaining({
    id: gone,
    message: '',
    title: null,
    tags: [],
    is_deleted: true,
    is_edited: false,
    deleted_at: body.deleted_at,
    topic: topic.name,
  });
  expect(records.map(({ type }: { type: string }) => type)).toEqual([
    'message',
    'message',
    'message',
    'message_deleted',
  ]);
  expect(records[1].message).toEqual(emptied);
  expect(records[3]).toEqual({
    offset: expect.any(Number),
    type: 'message_deleted',
    timestamp: body.deleted_at,
    message: records[1].message,
  });
  expect(records[3].offset).toBeGreaterThan(records[2].offset);
});

test('counts exclude a deleted message, and the time of the last publish stays', async () => {
  const topic = await topicWith(['one', 'two']);
  const reader = await stack.person();
  await reader.post('/api/subscriptions', { topic_name: topic.name });
  await owner.publish(topic.name, 'three');
  const { body: last } = await owner.publish(topic.name, 'four');
  const counts = async () => (await reader.get('/api/subscriptions')).body.subscriptions[0];
  expect(await counts()).toMatchObject({ message_count: 4, unread_count: 2 });
  expect((await owner.delete(deletion(topic, last.id))).status).toBe(200);
  expect(await counts()).toMatchObject({ message_count: 3, unread_count: 1 });
  expect((await owner.get(`/api/topics/${topic.name}`)).body).toMatchObject({
    message_count: 3,
    last_message_at: last.timestamp,
  });
});

test('a deleted message cannot be deleted or edited again', async () => {
  const topic = await topicWith(['one']);
  const path = deletion(topic, topic.ids[0]!);
  expect((await owner.delete(path)).status).toBe(200);
  for (const refused of [
    await owner.delete(path),
    await owner.patch(path, { message: 'again' }),
    await owner.patch(path, {}),
  ]) {
    expect(refused).toMatchObject({ status: 404, body: { detail: 'Message not found' } });
  }
});

test('concurrent deletions on all nodes succeed once', async () => {
  const topic = await topicWith(['one']);
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, node) => owner.client.call('DELETE', deletion(topic, topic.ids[0]!), { node })),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404, 404, 404, 404]);
  const { records } = (await owner.get(`/api/topics/${topic.name}/log`)).body;
  expect(records.map(({ type }: { type: string }) => type)).toEqual(['message', 'message_deleted']);
});

test('finds topic and message case-insensitively', async () => {
  const topic = await topicWith(['one']);
  const answer = await owner.delete(deletion({ name: topic.name.toUpperCase() }, topic.ids[0]!.toUpperCase()));
  expect(answer).toMatchObject({ status: 200, body: { id: topic.ids[0] } });
});

describe('a missing topic or message', () => {
  test('returns 404 naming the missing resource', async () => {
    const [topic, other] = [await topicWith(['one']), await topicWith(['two'])];
    expect(await owner.delete(deletion({ name: newTopicName() }, topic.ids[0]!))).toMatchObject({
      status: 404,
      body: { detail: 'Topic not found' },
    });
    for (const id of [randomUUID(), other.ids[0]!]) {
      expect(await owner.delete(deletion(topic, id))).toMatchObject({
        status: 404,
        body: { detail: 'Message not found' },
      });
    }
    expect((await owner.get(`/${other.name}/json`)).body.count).toBe(1);
  });

  test('returns 422 for a malformed ID after the access check', async () => {
    const topic = await topicWith(['one']);
    expect(await owner.delete(deletion(topic, 'first'))).toMatchObject({
      status: 422,
      body: { detail: 'message_id: must be a UUID' },
    });
    expect((await stack.caller().delete(deletion(topic, 'first'))).status).toBe(401);
    expect((await (await stack.person()).delete(deletion(topic, 'first'))).status).toBe(403);
  });

  test('returns 405 for other methods', async () => {
    const topic = await topicWith(['one']);
    const answer = await owner.get(deletion(topic, topic.ids[0]!));
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'DELETE, PATCH']);
  });
});

describe('deleting and editing', () => {
  const both = async (caller: Pick<Person, 'delete' | 'patch'>, path: string) => [
    await caller.patch(path, { message: 'new' }),
    await caller.delete(path),
  ];

  test("is allowed to the owner and the admins of the topic's team", async () => {
    const [admin, member] = [await stack.person(), await stack.person()];
    const team_id = await stack.team(owner, [
      [admin, 'admin'],
      [member, 'member'],
    ]);
    for (const access_level of ['public', 'private']) {
      const topic = await topicWith(['one', 'two'], { team_id, access_level });
      for (const refused of await both(member, deletion(topic, topic.ids[0]!))) {
        expect(refused).toMatchObject({
          status: 403,
          body: { detail: 'Insufficient permissions to access this topic' },
        });
      }
      for (const [index, manager] of [admin, owner].entries()) {
        for (const done of await both(manager, deletion(topic, topic.ids[index]!))) expect(done.status).toBe(200);
      }
    }
  });

  test('is refused to outsiders, anonymous callers and topic tokens', async () => {
    const topic = await topicWith(['one']);
    const path = deletion(topic, topic.ids[0]!);
    const tokens = `/api/topics/${topic.name}/access-tokens`;
    const { token } = (await owner.post(tokens, { name: 't', permissions: ['read', 'write'] })).body;
    for (const refused of await both(stack.caller(), path))
      expect(refused).toMatchObject({ status: 401, body: { detail: 'Not authenticated' } });
    for (const refused of await both(await stack.person({ tier: 'TEAM' }), path)) {
      expect(refused).toMatchObject({ status: 403, body: { detail: 'Insufficient permissions to access this topic' } });
    }
    for (const refused of await both(stack.caller({ 'X-Topic-Token': token }), path)) {
      expect(refused).toMatchObject({ status: 403, body: { detail: 'A topic token opens only its topic' } });
    }
    expect((await owner.get(`/${topic.name}/json`)).body.messages).toMatchObject([
      { message: 'one', is_edited: false },
    ]);
  });

  test("with an API key requires the scope topics:write and the user's own topic", async () => {
    const topic = await topicWith(['one'], { access_level: 'private' });
    const path = deletion(topic, topic.ids[0]!);
    const key = async (scopes: string[], person = owner) =>
      stack.caller({ 'X-API-Key': (await person.post('/api/keys', { name: 'k', scopes })).body.key });
    for (const refused of await both(await key(['topics:read', 'publish', 'subscribe']), path)) {
      expect(refused).toMatchObject({ status: 403, body: { detail: 'Missing scope: topics:write' } });
    }
    for (const refused of await both(await key(['*'], await stack.person()), path)) expect(refused.status).toBe(403);
    for (const done of await both(await key(['topics:write']), path)) expect(done.status).toBe(200);
  });

  test("requires that the topic's owner currently has at least the ESSENTIALS tier", async () => {
    const tierless = { status: 403, body: { detail: 'Requires the ESSENTIALS tier or higher' } };
    for (const poor of [
      await stack.person(),
      await stack.person({ tier: 'TEAM', tierExpiresAt: Date.now() - 1_000 }),
    ]) {
      const topic = await createTopic(poor);
      const { id } = (await poor.publish(topic.name)).body;
      for (const refused of await both(poor, deletion(topic, id))) expect(refused).toMatchObject(tierless);
    }
    const [poor, admin] = [await stack.person(), await stack.person({ tier: 'TEAM' })];
    const topic = await createTopic(poor, { team_id: await stack.team(poor, [[admin, 'admin']]) });
    const { id } = (await poor.publish(topic.name)).body;
    for (const refused of await both(admin, deletion(topic, id))) expect(refused).toMatchObject(tierless);
  });

  test('checks run in order: topic, caller, message, tier, fields', async () => {
    const poor = await stack.person();
    const topic = await createTopic(poor);
    const bad = { message: '' };
    expect((await stack.caller().patch(deletion({ name: newTopicName() }, 'x'), bad)).status).toBe(404);
    expect((await new Client().call('PATCH', deletion(topic, 'x'), { json: bad })).status).toBe(401);
    expect((await poor.patch(deletion(topic, randomUUID()), bad)).status).toBe(404);
    expect((await poor.patch(deletion(topic, 'x'), bad)).status).toBe(403);
    const own = await topicWith(['one']);
    expect((await owner.patch(deletion(own, randomUUID()), bad)).status).toBe(404);
    expect((await owner.patch(deletion(own, own.ids[0]!), bad)).status).toBe(422);
  });
});
