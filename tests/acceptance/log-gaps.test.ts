import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { Client, createTopic, newAddress, testStack } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

/** The shortest lifetime. */
const ttlMs = 30_000;

const stack = useStack();
let owner: Person;
let topic: { id: string; name: string };
/** The offsets of the topic's messages: 0 and 3 are kept, 1 and 2 expire. */
let offsets: number[];
/** The IDs of the topic's messages. */
let ids: string[];
/** A topic of which everything has expired. */
let emptied: { id: string; name: string };
let lastOfEmptied: number;
let another: number;
/** A consumer that was set before the records expired, by name. */
const consumer = (name: string) => `/api/topics/${topic.name}/consumers/${name}`;

const log = (query: string, name = topic.name) => new Client().call('GET', `/api/topics/${name}/log${query}`);

const publish = async (name: string, ttl?: string) => (await publishMessage(name, ttl)).offset;

async function publishMessage(name: string, ttl?: string): Promise<{ offset: number; id: string }> {
  const headers: Record<string, string> = ttl === undefined ? {} : { TTL: ttl };
  const { status, body } = await new Client().call('POST', `/${name}`, { text: 'x', headers });
  expect(status).toBe(200);
  return body;
}

beforeAll(async () => {
  owner = await stack.person({ tier: 'TEAM' });
  [topic, emptied] = [await createTopic(owner), await createTopic(owner)];
  const other = await createTopic(owner);
  const published = [await publishMessage(topic.name)];
  await publish(other.name);
  published.push(await publishMessage(topic.name, '30s'), await publishMessage(topic.name, '30s'));
  another = await publish(other.name, '30s');
  published.push(await publishMessage(topic.name));
  offsets = published.map(({ offset }) => offset);
  ids = published.map(({ id }) => id);
  for (const [name, offset] of [
    ['all', offsets[0]],
    ['second', offsets[2]],
    ['read', offsets[3]! + 1],
  ] as const)
    expect((await owner.put(consumer(name), { offset })).body.lost).toBe(0);
  // Otherwise a sweep, once a minute, removes the expired messages, and their IDs are unknown.
  expect((await stack.operator().put(`/admin/topics/${topic.name}/hold`)).status).toBe(200);
  await publish(emptied.name, '30s');
  lastOfEmptied = await publish(emptied.name, '30s');
  await pause(ttlMs);
  await eventually(async () => expect((await log('', emptied.name)).body.records).toEqual([]));
}, 2 * ttlMs);

describe('the log', () => {
  test('reports the records between the start and the first record that have expired', async () => {
    const [first, second, third, fourth] = offsets as [number, number, number, number];
    const gapFrom = async (from: number) => (await log(`?from_offset=${from}`)).body;
    const bounds = { earliest_offset: first, head: fourth + 1 };
    const reason = 'expired';
    expect(await gapFrom(second)).toMatchObject({
      ...bounds,
      records: [{ offset: fourth }],
      gap: { from_offset: second, to_offset: fourth, reason },
    });
    expect(await gapFrom(third)).toMatchObject({
      ...bounds,
      gap: { from_offset: third, to_offset: fourth, reason },
    });
    expect(await gapFrom(0)).toMatchObject({ ...bounds, records: [{ offset: first }, { offset: fourth }], gap: null });
  });

  test('reports no gap where only other topics have records', async () => {
    const [, , third, fourth] = offsets as [number, number, number, number];
    expect(another).not.toBe(fourth);
    for (const from of [third + 1, fourth, fourth + 1, 2 ** 50])
      expect((await log(`?from_offset=${from}`)).body).toMatchObject({ earliest_offset: offsets[0], gap: null });
  });

  test('of a topic whose records have all expired begins at its end', async () => {
    const end = lastOfEmptied + 1;
    expect((await log('', emptied.name)).body).toMatchObject({
      records: [],
      next_offset: 0,
      earliest_offset: end,
      head: end,
      gap: { from_offset: 0, to_offset: end, reason: 'expired' },
    });
    expect((await log(`?from_offset=${end}`, emptied.name)).body).toMatchObject({ earliest_offset: end, gap: null });
  });

  test('of a topic without records has no gap', async () => {
    const empty = await createTopic(owner);
    expect((await log('', empty.name)).body).toMatchObject({ earliest_offset: 0, head: 0, gap: null });
  });

  test('an edit and a deletion leave no gap', async () => {
    const own = await createTopic(owner);
    const { body: edited } = await stack.caller().publish(own.name);
    const { body: deleted } = await stack.caller().publish(own.name);
    await owner.patch(`/api/${own.name}/messages/${edited.id}`, { message: 'y' });
    await owner.delete(`/api/${own.name}/messages/${deleted.id}`);
    const { head } = (await log('', own.name)).body;
    for (let from = edited.offset; from <= head; from += 1)
      expect((await log(`?from_offset=${from}`, own.name)).body.gap).toBeNull();
  });
});

describe('the lines of the log', () => {
  const ndjson = { Accept: 'application/x-ndjson' };
  const open = (query: string, name: string, init: RequestInit = {}) =>
    fetch(`${testStack().urls[0]!}/api/topics/${name}/log${query}`, {
      headers: { ...ndjson, 'X-Forwarded-For': newAddress() },
      ...init,
    });
  const lines = (text: string) =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));

  test('have one line about a gap, where it is', async () => {
    const [, second, , fourth] = offsets as [number, number, number, number];
    const linesFrom = async (query: string, name: string) => lines(await (await open(query, name)).text());
    expect(await linesFrom(`?from_offset=${second}`, topic.name)).toEqual([
      { type: 'gap', from_offset: second, to_offset: fourth, reason: 'expired' },
      expect.objectContaining({ type: 'message', offset: fourth }),
    ]);
    expect(await linesFrom('', topic.name)).toHaveLength(2);
    expect(await linesFrom('', emptied.name)).toEqual([
      { type: 'gap', from_offset: 0, to_offset: lastOfEmptied + 1, reason: 'expired' },
    ]);
  });

  test('of a reader that follows have it once, before the next record', async () => {
    const abort = new AbortController();
    let text = '';
    const response = await open('?follow=true', emptied.name, { signal: abort.signal });
    const reading = (async () => {
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) text += chunk;
    })().catch(() => undefined);
    await eventually(() => expect(lines(text)).toHaveLength(1));
    const next = await publish(emptied.name, '30s');
    await eventually(() => expect(lines(text)).toMatchObject([{ type: 'gap' }, { offset: next }]));
    abort.abort();
    await reading;
  });
});

describe('a consumer', () => {
  test('counts as lag what it can still read, and as lost what expired before', async () => {
    expect((await owner.get(consumer('all'))).body).toMatchObject({ offset: offsets[0], lag: 2, lost: 2 });
    expect((await owner.get(consumer('second'))).body).toMatchObject({ offset: offsets[2], lag: 1, lost: 1 });
    expect((await owner.get(consumer('read'))).body).toMatchObject({ lag: 0, lost: 0 });
  });

  test('has lost nothing since its offset was set', async () => {
    const read = async () => (await owner.get(consumer('again'))).body;
    expect((await owner.put(consumer('again'), { offset: offsets[0] })).body).toMatchObject({ lag: 2, lost: 0 });
    expect(await read()).toMatchObject({ lag: 2, lost: 0 });
    expect((await owner.put(consumer('second'), { offset: offsets[1] })).body).toMatchObject({ lag: 1, lost: 0 });
  });
});

describe('history', () => {
  const since = (value: string) => new Client().call('GET', `/${topic.name}/json?since=${value}`);

  test('says that messages after an expired one are gone, and names the first that can be read', async () => {
    const answer = await since(ids[1]!);
    expect(answer.body).toMatchObject({ messages: [{ id: ids[3] }], count: 1, recovered: false });
    expect(answer.headers.get('X-Earliest-Id')).toBe(ids[0]);
  });

  test('has no such field if nothing after the start is gone', async () => {
    for (const value of [ids[0]!, ids[2]!, ids[3]!, 'all']) {
      const { body, headers } = await since(value);
      expect(Object.keys(body)).toEqual(['messages', 'topic', 'count']);
      expect(headers.get('X-Earliest-Id')).toBeNull();
    }
    expect((await new Client().call('GET', `/${topic.name}/json`)).body).not.toHaveProperty('recovered');
  });
});
