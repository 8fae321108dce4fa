import { beforeAll, describe, expect, test } from '@jest/globals';
import { createTopic, newTopicName, type Answer } from '../support/stack.ts';
import { useStack, type Caller, type Person } from '../support/use-stack.ts';

const stack = useStack();
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
const shown = (name: string, offset: number) => ({
  name,
  offset,
  head: offsets[2]! + 1,
  lag: offsets.filter((one) => one >= offset).length,
  lost: 0,
  updated_at: expect.stringMatching(/^\d{4}-.*Z$/),
});
const offsetsOf = (answer: Answer): number[] => answer.body.records.map(({ offset }: { offset: number }) => offset);
const readFrom = (by: Caller, name: string, query = '') =>
  by.get(`/api/topics/${topic.name}/log?consumer=${name}${query}`);

async function topicToken(permissions: string[], of = topic.name) {
  const { token, id } = (await owner.post(`/api/topics/${of}/access-tokens`, { name: 't', permissions })).body;
  return { id: id as string, by: stack.caller({ 'X-Topic-Token': token }) };
}

test('an offset is stored, moved forward and back, read from, listed and deleted', async () => {
  expect(await owner.put(path('archive'), { offset: offsets[1] })).toMatchObject({
    status: 200,
    body: shown('archive', offsets[1]!),
  });
  expect(await owner.get(path('archive'))).toMatchObject({ status: 200, body: shown('archive', offsets[1]!) });
  const read = await readFrom(owner, 'archive');
  expect(offsetsOf(read)).toEqual(offsets.slice(1));
  expect((await owner.put(path('archive'), { offset: read.body.next_offset })).body).toMatchObject({
    lag: 0,
    offset: offsets[2]! + 1,
  });
  expect(await readFrom(owner, 'archive')).toMatchObject({
    status: 200,
    body: { records: [], next_offset: offsets[2]! + 1 },
  });
  expect((await owner.put(path('archive'), { offset: 0 })).body.lag).toBe(3);
  expect(offsetsOf(await readFrom(owner, 'archive', '&limit=2'))).toEqual(offsets.slice(0, 2));
  await owner.put(path('Billing'), { offset: offsets[2] });
  expect((await owner.get(`/api/topics/${topic.name}/consumers`)).body).toEqual([
    shown('archive', 0),
    shown('Billing', offsets[2]!),
  ]);
  expect((await owner.delete(path('archive'))).status).toBe(204);
  for (const answer of [
    await owner.delete(path('archive')),
    await owner.get(path('archive')),
    await readFrom(owner, 'archive'),
  ]) {
    expect(answer).toMatchObject({ status: 404, body: { detail: 'Consumer not found' } });
  }
});

test('reading does not move the offset', async () => {
  await owner.put(path('still'), { offset: offsets[0] });
  await readFrom(owner, 'still');
  expect((await owner.get(path('still'))).body.offset).toBe(offsets[0]);
});

test('an offset beyond the head stays there without lag', async () => {
  expect((await owner.put(path('ahead'), { offset: Number.MAX_SAFE_INTEGER })).body).toMatchObject({
    offset: Number.MAX_SAFE_INTEGER,
    lag: 0,
  });
  expect((await readFrom(owner, 'ahead')).body).toMatchObject({ records: [], next_offset: Number.MAX_SAFE_INTEGER });
});

test('a topic without records has no lag', async () => {
  const empty = await createTopic(owner);
  expect((await owner.put(path('a', empty.name), { offset: 0 })).body).toMatchObject({ offset: 0, head: 0, lag: 0 });
});

test('names are case-insensitive and keep their first spelling', async () => {
  await owner.put(path('MiXed-1'), { offset: 1 });
  expect((await owner.put(path('mixed-1'), { offset: 2 })).body).toMatchObject({ name: 'MiXed-1', offset: 2 });
  expect((await readFrom(owner, 'MIXED-1')).status).toBe(200);
  expect((await owner.delete(path('mIxEd-1'))).status).toBe(204);
});

test.each(['%20', 'a.b', 'a%2Fb', '%00', '%C3%BC', 'x'.repeat(65)])('refuses the name %s', async (name) => {
  const answer = await owner.put(path(name), { offset: 0 });
  expect(answer).toMatchObject({
    status: 422,
    body: { detail: 'consumer: must be 1 to 64 of the characters A-Z, a-z, 0-9, _ and -' },
  });
  expect((await owner.get(path(name))).body).toEqual({ detail: 'Consumer not found' });
  expect((await owner.delete(path(name))).status).toBe(404);
});

test.each([
  [{}, 'offset: is required'],
  [{ offset: null }, 'offset: is required'],
  [{ offset: '1' }, 'offset: must be a number'],
  [{ offset: -1 }, 'offset: must be a whole number'],
  [{ offset: 1.5 }, 'offset: must be a whole number'],
  [{ offset: 2 ** 53 }, 'offset: must be a whole number'],
  [{ offset: { $gt: 0 } }, 'offset: must be a number'],
  [[1], 'body: must be an object'],
])('%j changes nothing', async (json, detail) => {
  const answer = await owner.put(path('refused'), json);
  expect(answer.status).toBe(422);
  expect(answer.body.detail).toContain(detail);
  expect((await owner.get(path('refused'))).status).toBe(404);
});

test('a request has one start: a consumer, an offset or a time', async () => {
  await owner.put(path('once'), { offset: 0 });
  for (const other of ['from_offset=0', 'from_time=2026-01-01', 'consumer=once']) {
    const answer = await readFrom(owner, 'once', `&${other}`);
    expect(answer.status).toBe(422);
    expect(answer.body.detail).toMatch(/^consumer: /);
  }
});

describe('a consumer belongs to its creator', () => {
  test('an account sees its own consumers by login and by key, and other accounts do not', async () => {
    await owner.put(path('mine'), { offset: offsets[1] });
    const { key } = (await owner.post('/api/keys', { name: 'k', scopes: ['subscribe'] })).body;
    expect((await stack.caller({ 'X-API-Key': key }).get(path('mine'))).body.offset).toBe(offsets[1]);
    const others = [await stack.person(), (await topicToken(['read'])).by];
    for (const other of others) {
      expect(await other.get(path('mine'))).toMatchObject({ status: 404, body: { detail: 'Consumer not found' } });
      expect((await readFrom(other, 'mine')).status).toBe(404);
      expect((await other.delete(path('mine'))).status).toBe(404);
      expect((await other.get(`/api/topics/${topic.name}/consumers`)).body).toEqual([]);
      expect((await other.put(path('mine'), { offset: 7 })).body.offset).toBe(7);
    }
    expect((await owner.get(path('mine'))).body.offset).toBe(offsets[1]);
  });

  test('anonymous callers have no consumers, not even on public topics', async () => {
    const anyone = stack.caller();
    const refused = { status: 401, body: { detail: 'Not authenticated' } };
    expect(await anyone.put(path('x'), { offset: 0 })).toMatchObject(refused);
    expect(await anyone.get(path('x'))).toMatchObject(refused);
    expect(await anyone.get(`/api/topics/${topic.name}/consumers`)).toMatchObject(refused);
    expect(await anyone.delete(path('x'))).toMatchObject(refused);
    expect(await readFrom(anyone, 'x')).toMatchObject(refused);
  });

  test('requires the scope and the read permission', async () => {
    const { key } = (await owner.post('/api/keys', { name: 'k', scopes: ['publish', 'topics:write'] })).body;
    const calls = (by: Caller) => [
      by.put(path('x'), { offset: 0 }),
      by.get(path('x')),
      by.get(`/api/topics/${topic.name}/consumers`),
      by.delete(path('x')),
    ];
    for (const answer of await Promise.all(calls(stack.caller({ 'X-API-Key': key })))) {
      expect(answer).toMatchObject({ status: 403, body: { detail: 'Missing scope: subscribe' } });
    }
    for (const answer of await Promise.all(calls((await topicToken(['write'])).by))) {
      expect(answer).toMatchObject({ status: 403, body: { detail: 'Insufficient permissions to access this topic' } });
    }
    expect(await owner.put(path('x', newTopicName()), { offset: 0 })).toMatchObject({
      status: 404,
      body: { detail: 'Topic not found' },
    });
  });
});

test('concurrent updates leave one of the sent offsets', async () => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => owner.put(path('busy'), { offset: 1_000 + index })),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  const { offset } = (await owner.get(path('busy'))).body;
  expect(offset).toBeGreaterThanOrEqual(1_000);
  expect(
    (await owner.get(`/api/topics/${topic.name}/consumers`)).body.filter(
      ({ name }: { name: string }) => name === 'busy',
    ),
  ).toHaveLength(1);
});
