import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { Client, createTopic, newAddress, testStack } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
let owner: Person;
let topic: { id: string; name: string };
let offsets: number[];

beforeAll(async () => {
  owner = await stack.person({ tier: 'TEAM' });
  topic = await createTopic(owner);
  offsets = [];
  for (let index = 0; index < 5; index += 1)
    offsets.push((await stack.caller().publish(topic.name, `line\n${index} ü`)).body.offset);
});

/** A stream of lines that is open, with what has come of it. */
interface Lines {
  readonly response: Response;
  readonly records: { offset: number; type: string; message: { message: string; topic: string } }[];
  /** Resolves when it ended: as a whole, or cut off. */
  readonly ended: Promise<'whole' | 'cut off'>;
  close(): void;
}

async function open(path: string, headers: Record<string, string> = {}, node = 0): Promise<Lines> {
  const { urls } = testStack();
  const abort = new AbortController();
  const response = await fetch(urls[node % urls.length]! + path, {
    headers: { Accept: 'application/x-ndjson', 'X-Forwarded-For': newAddress(), ...headers },
    signal: abort.signal,
  });
  const records: Lines['records'] = [];
  const read = async (): Promise<'whole' | 'cut off'> => {
    let text = '';
    try {
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
        const lines = (text + chunk).split('\n');
        text = lines.pop()!;
        for (const line of lines) if (line !== '') records.push(JSON.parse(line));
      }
      return 'whole';
    } catch {
      return 'cut off';
    }
  };
  return {
    response,
    records,
    ended: response.status === 200 ? read() : Promise.resolve('whole'),
    close: () => abort.abort(),
  };
}

const log = (query = '', name = topic.name) => `/api/topics/${name}/log${query}`;
const offsetsOf = ({ records }: Lines) => records.map(({ offset }) => offset);

test('all records come one a line, as the log has them, and the stream ends at the head', async () => {
  const lines = await open(log());
  expect([
    lines.response.status,
    lines.response.headers.get('content-type'),
    lines.response.headers.get('cache-control'),
    lines.response.headers.get('x-accel-buffering'),
  ]).toEqual([200, 'application/x-ndjson', 'no-cache', 'no']);
  expect(await lines.ended).toBe('whole');
  expect(lines.records).toEqual((await owner.get(log())).body.records);
});

test('a start and a limit are taken as with JSON, the limit without an upper end', async () => {
  const read = async (query: string) => {
    const lines = await open(log(query));
    await lines.ended;
    return offsetsOf(lines);
  };
  expect(await read(`?from_offset=${offsets[1]! + 1}`)).toEqual(offsets.slice(2));
  expect(await read('?limit=2')).toEqual(offsets.slice(0, 2));
  expect(await read('?limit=100000')).toEqual(offsets);
  expect(await read('?from_time=2100-01-01')).toEqual([]);
});

test('more records than are read at once come all, each once', async () => {
  const own = await createTopic(owner);
  const publishers = await Promise.all(Array.from({ length: 3 }, () => stack.person({ tier: 'TEAM' })));
  for (const publisher of publishers)
    await Promise.all(Array.from({ length: 90 }, (_, index) => publisher.publish(own.name, `${index}`)));
  const lines = await open(log('', own.name));
  expect(await lines.ended).toBe('whole');
  expect(new Set(offsetsOf(lines)).size).toBe(270);
  expect(offsetsOf(lines)).toEqual([...offsetsOf(lines)].sort((a, b) => a - b));
}, 120_000);

test('`wait` holds a stream that would be empty until there is a record', async () => {
  const own = await createTopic(owner);
  let isAnswered = false;
  const waiting = open(log('?wait=20', own.name)).finally(() => (isAnswered = true));
  await pause(200); // that it waits can only be seen by waiting
  expect(isAnswered).toBe(false);
  const { offset } = (await stack.caller().publish(own.name)).body;
  const lines = await waiting;
  expect(await lines.ended).toBe('whole');
  expect(offsetsOf(lines)).toEqual([offset]);
});

describe('`follow`', () => {
  test('goes on at the head with what comes, changes too, on any node, until the client leaves', async () => {
    const own = await createTopic(owner);
    const first = (await owner.publish(own.name, 'first')).body;
    const lines = await open(log('?follow=true', own.name), {}, 1);
    await eventually(() => expect(offsetsOf(lines)).toEqual([first.offset]));
    await owner.publish(own.name, 'second');
    await owner.patch(`/api/${own.name}/messages/${first.id}`, { message: 'edited' });
    await owner.delete(`/api/${own.name}/messages/${first.id}`);
    await eventually(() =>
      expect(lines.records.map(({ type }) => type)).toEqual([
        'message',
        'message',
        'message_edited',
        'message_deleted',
      ]),
    );
    await eventually(async () => expect((await owner.get(`/api/topics/${own.name}`)).body.connection_count).toBe(1), {
      timeoutMs: 10_000,
    });
    lines.close();
    await eventually(async () => expect((await owner.get(`/api/topics/${own.name}`)).body.connection_count).toBe(0), {
      timeoutMs: 10_000,
    });
  });

  test('begins on an empty topic, and ends after `limit` records', async () => {
    const own = await createTopic(owner);
    const lines = await open(log('?follow=1&limit=2', own.name));
    for (const text of ['a', 'b', 'c']) await owner.publish(own.name, text);
    expect(await lines.ended).toBe('whole');
    expect(lines.records.map(({ message }) => message.message)).toEqual(['a', 'b']);
  });

  test('misses and repeats nothing under publishers that do not wait for it', async () => {
    const own = await createTopic(owner);
    const lines = await open(log('?follow=true', own.name));
    const answers = await Promise.all(
      Array.from({ length: 90 }, (_, index) =>
        owner.client.call('POST', `/${own.name}`, { text: `${index}`, node: index }),
      ),
    );
    const expected = answers.map(({ body }) => body.offset as number).sort((a, b) => a - b);
    await eventually(() => expect(offsetsOf(lines)).toEqual(expected), { timeoutMs: 15_000 });
    lines.close();
  });

  test('ends when access does: a token that is deleted, a topic that is closed or deleted', async () => {
    const own = await createTopic(owner);
    const { token, id } = (
      await owner.post(`/api/topics/${own.name}/access-tokens`, { name: 't', permissions: ['read'] })
    ).body;
    const byToken = await open(log('?follow=true', own.name), { 'X-Topic-Token': token });
    const byNobody = await open(log('?follow=true', own.name));
    const byOwner = await open(log('?follow=true', own.name), { Authorization: `Bearer ${owner.client.token}` });
    await owner.delete(`/api/topics/${own.name}/access-tokens/${id}`);
    expect(await byToken.ended).toBe('whole');
    await owner.patch(`/api/topics/${own.id}`, { access_level: 'private' });
    expect(await byNobody.ended).toBe('whole');
    await owner.delete(`/api/topics/${own.id}`);
    expect(await byOwner.ended).toBe('whole');
  });

  test('asks for lines', async () => {
    expect(await owner.get(log('?follow=true'))).toMatchObject({
      status: 422,
      body: { detail: 'follow: needs Accept: application/x-ndjson' },
    });
  });
});

test('a stream that may not be opened is an error in JSON', async () => {
  const closed = await createTopic(owner, { access_level: 'private' });
  for (const [path, status] of [
    [log('', closed.name), 401],
    [log('', 'no-such-topic'), 404],
    [log('?limit=0'), 422],
    [log('?consumer=x'), 401],
    [log('?follow=maybe'), 422],
  ] as const) {
    const { response } = await open(path);
    expect([path, response.status, response.headers.get('content-type')]).toEqual([path, status, 'application/json']);
  }
});

test('HEAD has the headers and no lines', async () => {
  const head = await fetch(testStack().urls[0]! + log('?follow=true'), {
    method: 'HEAD',
    headers: { Accept: 'application/x-ndjson', 'X-Forwarded-For': newAddress() },
  });
  expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([200, 'application/x-ndjson', '']);
});

test('who waits while access ends is answered as who asks then', async () => {
  const own = await createTopic(owner);
  const anyone = new Client();
  const waiting = [anyone.call('GET', log('?wait=30', own.name)), anyone.call('GET', `/${own.name}/json?wait=30`)];
  await pause(300); // that they wait can only be seen by waiting
  await owner.patch(`/api/topics/${own.id}`, { access_level: 'private' });
  await owner.publish(own.name, 'secret');
  for (const answer of await Promise.all(waiting))
    expect(answer).toMatchObject({ status: 401, body: { detail: 'Not authenticated' } });
});
