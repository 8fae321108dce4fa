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

/** An open stream of lines with the lines received so far. */
interface Lines {
  readonly response: Response;
  readonly records: { offset: number; type: string; message: { message: string; topic: string } }[];
  /** Resolves when the stream ended, complete or truncated. */
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

test('returns all records, one per line, as in the log, and ends at the head', async () => {
  const lines = await open(log());
  expect([
    lines.response.status,
    lines.response.headers.get('content-type'),
    lines.response.headers.get('cache-control'),
    lines.response.headers.get('x-accel-buffering'),
  ]).toEqual([200, 'application/x-ndjson', 'no-cache', 'no']);
  expect(await lines.ended).toBe('whole');
  expect(lines.records).toEqual((await stack.caller().get(log())).body.records);
});

test('start and limit work as with JSON, without a maximum for the limit', async () => {
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

test('returns more records than one batch, each once', async () => {
  const own = await createTopic(owner);
  const publishers = await Promise.all(Array.from({ length: 3 }, () => stack.person({ tier: 'TEAM' })));
  for (const publisher of publishers)
    await Promise.all(Array.from({ length: 90 }, (_, index) => publisher.publish(own.name, `${index}`)));
  const lines = await open(log('', own.name));
  expect(await lines.ended).toBe('whole');
  expect(new Set(offsetsOf(lines)).size).toBe(270);
  expect(offsetsOf(lines)).toEqual([...offsetsOf(lines)].sort((a, b) => a - b));
}, 120_000);

test('`wait` holds an empty stream until a record arrives', async () => {
  const own = await createTopic(owner);
  let isAnswered = false;
  const waiting = open(log('?wait=20', own.name)).finally(() => (isAnswered = true));
  await pause(200); // only waiting shows that the stream is held
  expect(isAnswered).toBe(false);
  const { offset } = (await stack.caller().publish(own.name)).body;
  const lines = await waiting;
  expect(await lines.ended).toBe('whole');
  expect(offsetsOf(lines)).toEqual([offset]);
});

describe('`follow`', () => {
  test('continues at the head with new records and changes, on any node, until the client disconnects', async () => {
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

  test('starts on an empty topic and ends after `limit` records', async () => {
    const own = await createTopic(owner);
    const lines = await open(log('?follow=1&limit=2', own.name));
    for (const text of ['a', 'b', 'c']) await owner.publish(own.name, text);
    expect(await lines.ended).toBe('whole');
    expect(lines.records.map(({ message }) => message.message)).toEqual(['a', 'b']);
  });

  test('has no gaps or duplicates under concurrent publishers', async () => {
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

  test('ends when access ends: deleted token, topic made private or deleted', async () => {
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

  test('requires the media type of lines', async () => {
    expect(await owner.get(log('?follow=true'))).toMatchObject({
      status: 422,
      body: { detail: 'follow: needs Accept: application/x-ndjson' },
    });
  });
});

test('a refused stream returns a JSON error', async () => {
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

test('HEAD returns the headers without lines', async () => {
  const head = await fetch(testStack().urls[0]! + log('?follow=true'), {
    method: 'HEAD',
    headers: { Accept: 'application/x-ndjson', 'X-Forwarded-For': newAddress() },
  });
  expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([200, 'application/x-ndjson', '']);
});

test('a waiting request that loses access gets the response of a new request', async () => {
  const own = await createTopic(owner);
  const anyone = new Client();
  const waiting = [anyone.call('GET', log('?wait=30', own.name)), anyone.call('GET', `/${own.name}/json?wait=30`)];
  await pause(300); // only waiting shows that the requests are held
  await owner.patch(`/api/topics/${own.id}`, { access_level: 'private' });
  await owner.publish(own.name, 'secret');
  for (const answer of await Promise.all(waiting))
    expect(answer).toMatchObject({ status: 401, body: { detail: 'Not authenticated' } });
});
