import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { createTopic, made } from '../support/stack.ts';
import { useStack, type Caller, type Person } from '../support/use-stack.ts';

const stack = useStack();
let owner: Person;
beforeAll(async () => {
  owner = await stack.person({ tier: 'TEAM' });
});

const policy = {
  min_priority: 4,
  repeat_every: '30m',
  repeat_max: 5,
  steps: [] as object[],
};
async function escalatingTopic(given: Record<string, unknown> = {}) {
  const topic = await createTopic(owner, given);
  await made(
    owner.put(`/api/topics/${topic.id}/escalation`, { ...policy, steps: [{ after: '1h', to: { users: [owner.id] } }] }),
  );
  return topic;
}
const publish = (name: string, priority: number, caller: Caller = owner) =>
  made(caller.post('/', { topic: name, message: 'pump stopped', priority }));
const ackOf = ({ id }: { id: string }) => `/api/messages/${id}/ack`;

test('a message that reaches the minimum priority requires an acknowledgement', async () => {
  const topic = await escalatingTopic();
  expect(await publish(topic.name, 3)).toMatchObject({ requires_ack: false, acknowledged_at: null });
  expect(await publish(topic.name, 4)).toMatchObject({ requires_ack: true, acknowledged_at: null });
  expect(await publish((await createTopic(owner)).name, 5)).toMatchObject({ requires_ack: false });
});

test('an acknowledgement shows who took the message, and a second one returns the first', async () => {
  const topic = await escalatingTopic();
  const message = await publish(topic.name, 5);
  const other = await stack.person();
  const first = await owner.post(ackOf(message), { note: 'on my way' });
  expect(first).toMatchObject({
    status: 200,
    body: {
      message_id: message.id,
      acknowledged_at: expect.any(String),
      acknowledged_by: { kind: 'account', name: owner.user.username },
      note: 'on my way',
    },
  });
  expect(await other.post(ackOf(message), { note: 'me too' })).toMatchObject({ status: 200, body: first.body });
  const { acknowledged_at, acknowledged_by } = first.body;
  expect((await owner.get(`/${topic.name}/json`)).body.messages).toMatchObject([
    { id: message.id, acknowledged_at, acknowledged_by },
  ]);
  const { records } = (await owner.get(`/api/topics/${topic.name}/log`)).body;
  expect(records.map(({ type }: { type: string }) => type)).toEqual(['message', 'message_acknowledged']);
});

test('concurrent acknowledgements have one winner and one record', async () => {
  const topic = await escalatingTopic();
  const message = await publish(topic.name, 5);
  const others = await Promise.all([stack.person(), stack.person(), stack.person()]);
  const answers = await Promise.all([owner, ...others].map((person) => made(person.post(ackOf(message), {}))));
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  const { records } = (await owner.get(`/api/topics/${topic.name}/log`)).body;
  expect(records).toHaveLength(2);
});

test('a withdrawal makes the message wait again', async () => {
  const topic = await escalatingTopic();
  const message = await publish(topic.name, 5);
  await made(owner.post(ackOf(message), {}));
  const waiting = () => owner.get(`/api/messages/unacknowledged?topic=${topic.name}`);
  expect((await waiting()).body).toEqual([]);
  for (let times = 0; times < 2; times++) expect((await owner.delete(ackOf(message))).status).toBe(204);
  expect((await waiting()).body).toMatchObject([{ id: message.id, acknowledged_at: null, acknowledged_by: null }]);
  const { records } = (await owner.get(`/api/topics/${topic.name}/log`)).body;
  expect(records.map(({ type }: { type: string }) => type)).toEqual([
    'message',
    'message_acknowledged',
    'message_unacknowledged',
  ]);
});

describe('an acknowledgement is accepted from', () => {
  test('keys with the scope publish and topic tokens that may publish, by their names', async () => {
    const topic = await escalatingTopic({ access_level: 'private' });
    const key = stack.caller({
      'X-API-Key': (await made(owner.post('/api/keys', { name: 'pager', scopes: ['publish'] }))).key,
    });
    const token = async (...permissions: string[]) =>
      stack.caller({
        'X-Topic-Token': (
          await made(owner.post(`/api/topics/${topic.name}/access-tokens`, { name: 'wall', permissions }))
        ).token,
      });
    const [writer, reader] = [await token('write'), await token('read')];
    const [byKey, byToken] = [await publish(topic.name, 5), await publish(topic.name, 5)];
    expect((await key.post(ackOf(byKey), {})).body.acknowledged_by).toEqual({ kind: 'api_key', name: 'pager' });
    expect((await reader.post(ackOf(byToken), {})).status).toBe(404);
    expect((await writer.post(ackOf(byToken), {})).body.acknowledged_by).toEqual({ kind: 'topic_token', name: 'wall' });
    expect((await writer.delete(ackOf(byToken))).status).toBe(204);
  });

  test('accounts that can read the topic, not from anonymous callers and others', async () => {
    const topic = await escalatingTopic({ access_level: 'private' });
    const message = await publish(topic.name, 5);
    const stranger = await stack.person();
    for (const method of ['post', 'delete'] as const) {
      expect((await stack.caller()[method](ackOf(message), {})).status).toBe(401);
      expect((await stranger[method](ackOf(message), {})).status).toBe(404);
      expect((await owner[method](ackOf({ id: randomUUID() }), {})).status).toBe(404);
      expect((await owner[method]('/api/messages/none/ack', {})).status).toBe(422);
    }
  });

  test('a note has at most 500 characters', async () => {
    const message = await publish((await escalatingTopic()).name, 5);
    expect((await owner.post(ackOf(message), { note: 'x'.repeat(501) })).status).toBe(422);
    expect((await owner.post(ackOf(message), { note: 'x'.repeat(500) })).status).toBe(200);
  });
});

test('a deleted message cannot be acknowledged and does not wait', async () => {
  const topic = await escalatingTopic();
  const message = await publish(topic.name, 5);
  await made(owner.delete(`/api/${topic.name}/messages/${message.id}`));
  expect((await owner.post(ackOf(message), {})).status).toBe(404);
  expect((await owner.get(`/api/messages/unacknowledged?topic=${topic.name}`)).body).toEqual([]);
});

test('lists what waits, oldest first, with the next repeat and step', async () => {
  const [topic, another] = [await escalatingTopic(), await escalatingTopic()];
  const first = await publish(topic.name, 5);
  const second = await publish(another.name, 4);
  const list = async (caller: Person, query = '') => (await caller.get(`/api/messages/unacknowledged${query}`)).body;
  const ids = (await list(owner)).map(({ id }: { id: string }) => id);
  expect(ids.filter((id: string) => id === first.id || id === second.id)).toEqual([first.id, second.id]);
  const [waiting] = await list(owner, `?topic=${topic.name}`);
  expect(waiting).toMatchObject({ id: first.id, requires_ack: true, repeats: 0, next_step: { number: 1 } });
  const sentAt = Date.parse(first.timestamp);
  expect(Date.parse(waiting.next_repeat_at) - sentAt).toBeGreaterThanOrEqual(30 * 60_000);
  expect(Date.parse(waiting.next_repeat_at) - sentAt).toBeLessThan(31 * 60_000);
  expect(Date.parse(waiting.next_step.at) - sentAt).toBeGreaterThanOrEqual(60 * 60_000);
  expect(await list(await stack.person())).toEqual([]);
});

test('an invalid link of a push is not found', async () => {
  for (const token of ['x', `${randomUUID()}.${randomUUID()}.${'a'.repeat(22)}`])
    expect(await stack.caller().post(`/ack/${token}`)).toMatchObject({
      status: 404,
      body: { detail: 'The link is invalid or the message does not exist any more' },
    });
});
