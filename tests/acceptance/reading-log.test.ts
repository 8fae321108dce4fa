import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, expect, test } from '@jest/globals';
import { Client, createTopic, newTopicName, type Answer } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
let owner: Person;
let topic: { id: string; name: string };
// oxlint-disable-next-line typescript/no-explicit-any -- a test asserts what it finds
const published: any[] = [];

beforeAll(async () => {
  owner = await stack.person({ tier: 'TEAM' });
  topic = await createTopic(owner);
  const client = new Client();
  for (let index = 1; index <= 5; index += 1)
    published.push((await client.call('POST', `/${topic.name}`, { text: `${index}`, node: index })).body);
});

const log = (query = '', name = topic.name) => new Client().call('GET', `/api/topics/${name}/log${query}`);
const bounds = () => ({ earliest_offset: published[0].offset, head: published[4].offset + 1, gap: null });
const offsets = (answer: Answer): number[] => answer.body.records.map(({ offset }: { offset: number }) => offset);

test('returns the log from the start, ordered by offset, with the messages as published', async () => {
  const { status, body } = await log();
  expect(status).toBe(200);
  expect(body).toEqual({
    topic: topic.name,
    next_offset: published[4].offset + 1,
    ...bounds(),
    records: published.map((message) => ({
      offset: message.offset,
      type: 'message',
      timestamp: message.timestamp,
      message,
    })),
  });
});

test('reading from next_offset has no gaps or duplicates, on any node', async () => {
  const seen: number[] = [];
  const reader = new Client();
  for (let from = 0, round = 0; round < 10; round += 1) {
    const answer = await reader.call('GET', `/api/topics/${topic.name}/log?limit=2&from_offset=${from}`, {
      node: round,
    });
    seen.push(...offsets(answer));
    if (answer.body.records.length === 0) {
      expect(answer.body.next_offset).toBe(from);
      break;
    }
    from = answer.body.next_offset;
  }
  expect(seen).toEqual(published.map(({ offset }) => offset));
});

test('an offset in a gap starts at the next record, and an offset beyond the end returns itself', async () => {
  expect(offsets(await log(`?from_offset=${published[1].offset}`))).toEqual(
    published.slice(1).map(({ offset }) => offset),
  );
  expect(offsets(await log(`?from_offset=${published[1].offset + 1}`))).toEqual(
    published.slice(2).map(({ offset }) => offset),
  );
  expect((await log('?from_offset=900000000')).body).toEqual({
    topic: topic.name,
    records: [],
    next_offset: 900_000_000,
    ...bounds(),
  });
});

test('a time starts at the first record that is not older, or at the end of the log', async () => {
  const time = published[2].timestamp as string;
  const notOlder = published.filter(({ timestamp }) => timestamp >= time).map(({ offset }) => offset);
  expect(offsets(await log(`?from_time=${time}`))).toEqual(notOlder);
  expect(offsets(await log(`?from_time=${time.replace('Z', '%2B00:00')}`))).toEqual(notOlder);
  expect(offsets(await log('?from_time=2020-01-01'))).toHaveLength(5);
  const ahead = (await log('?from_time=2100-01-01')).body;
  expect(ahead.records).toEqual([]);
  expect(ahead.next_offset).toBeGreaterThan(published[4].offset);
  const next = (await stack.caller().publish(topic.name, 'six')).body;
  published.push(next);
  expect(offsets(await log(`?from_offset=${ahead.next_offset}`))).toEqual([next.offset]);
});

test('a topic without messages has an empty log', async () => {
  const empty = await createTopic(owner);
  expect(await log('', empty.name)).toMatchObject({ status: 200, body: { records: [], next_offset: 0 } });
});

test('`wait` holds an empty response until a record arrives', async () => {
  const own = await createTopic(owner);
  let isAnswered = false;
  const waiting = log('?wait=20', own.name).finally(() => (isAnswered = true));
  await pause(200); // only waiting shows that the response is held
  expect(isAnswered).toBe(false);
  const { body } = await stack.caller().publish(own.name, 'first');
  expect(offsets(await waiting)).toEqual([body.offset]);
  expect((await log(`?wait=1&from_offset=${body.offset + 1}`, own.name)).body.records).toEqual([]);
});

test.each([
  ['from_offset=-1', 'from_offset'],
  ['from_offset=x', 'from_offset'],
  ['from_offset=1.5', 'from_offset'],
  ['from_offset=1e3', 'from_offset'],
  ['from_offset=99999999999999999999', 'from_offset'],
  ['from_time=soon', 'from_time'],
  ['from_offset=1&from_time=2026-01-01', 'from_time'],
  ['limit=0', 'limit'],
  ['limit=1001', 'limit'],
  ['wait=61', 'wait'],
  ['from_offset=1&from_offset=1', 'from_offset'],
])('?%s returns 422', async (query, field) => {
  const answer = await log(`?${query}`);
  expect(answer.status).toBe(422);
  expect(answer.body.detail).toMatch(new RegExp(`^${field}: `));
});

test('reading the log requires the read permission', async () => {
  const closed = await createTopic(owner, { access_level: 'private' });
  const path = `/api/topics/${closed.name}/log`;
  const tokens = `/api/topics/${closed.name}/access-tokens`;
  const reading = (await owner.post(tokens, { name: 'r', permissions: ['read'] })).body.token as string;
  const writing = (await owner.post(tokens, { name: 'w', permissions: ['write'] })).body.token as string;
  expect(await stack.caller().get(path)).toMatchObject({ status: 401, body: { detail: 'Not authenticated' } });
  for (const stranger of [await stack.person(), stack.caller({ 'X-Topic-Token': writing })]) {
    expect(await stranger.get(path)).toMatchObject({
      status: 403,
      body: { detail: 'Insufficient permissions to access this topic' },
    });
  }
  const { key } = (await owner.post('/api/keys', { name: 'k', scopes: ['topics:read'] })).body;
  expect(await stack.caller({ 'X-API-Key': key }).get(path)).toMatchObject({
    status: 403,
    body: { detail: 'Missing scope: subscribe' },
  });
  for (const reader of [owner, stack.caller({ 'X-Topic-Token': reading })])
    expect((await reader.get(path)).status).toBe(200);
  expect(await log('', newTopicName())).toMatchObject({ status: 404, body: { detail: 'Topic not found' } });
});
