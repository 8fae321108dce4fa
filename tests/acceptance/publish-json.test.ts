import { beforeAll, expect, test } from '@jest/globals';
import { Client, createTopic, newTopicName } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
let owner: Person;
let name: string;

beforeAll(async () => {
  owner = await stack.person();
  ({ name } = await createTopic(owner));
});

const send = (json: unknown, headers: Record<string, string> = {}, query = '') =>
  new Client().call('POST', `/${query}`, { json, headers });

test.each(['POST', 'PUT'])("%s / publishes and returns the fields that ntfy's clients read", async (method) => {
  const { status, body } = await new Client().call(method, '/', {
    json: {
      topic: name,
      message: 'hi',
      title: 'T',
      priority: 4,
      tags: ['a', ' b ', 'a'],
      markdown: true,
      click: 'https://x',
      actions: [],
    },
  });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    topic: name,
    message: 'hi',
    title: 'T',
    priority: 4,
    tags: ['a', 'b'],
    markdown: true,
    event: 'message',
  });
  expect([body.time, body.expires]).toEqual([
    Math.floor(Date.parse(body.timestamp) / 1000),
    Math.floor(Date.parse(body.expires_at) / 1000),
  ]);
});

test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/octet-stream'])(
  'reads a body of type %s as JSON',
  async (type) => {
    expect(await send({ topic: name, message: 'x' }, { 'Content-Type': type })).toMatchObject({ status: 200 });
  },
);

test('headers and query supply absent or null fields; fields of the body take precedence', async () => {
  const headers = { 'X-Title': 'by header', 'X-Tags': 'h', 'X-Priority': '5', 'X-Message': 'text by header' };
  expect((await send({ topic: name, message: null, title: null }, headers)).body).toMatchObject({
    message: 'text by header',
    title: 'by header',
    tags: ['h'],
    priority: 5,
  });
  expect((await send({ topic: name, message: 'm', title: 'json', tags: [], priority: 1 }, headers)).body).toMatchObject(
    { message: 'm', title: 'json', tags: [], priority: 1 },
  );
  expect((await send({ topic: name, message: 'm' }, {}, '?title=q&p=2')).body).toMatchObject({
    title: 'q',
    priority: 2,
  });
});

test.each([
  [{ tags: 'a, b,,a' }, { tags: ['a', 'b'] }],
  [{ priority: 'high' }, { priority: 4 }],
  [{ priority: '2' }, { priority: 2 }],
  [{ priority: null }, { priority: 3 }],
  [{ markdown: 'yes' }, { markdown: true }],
  [{ markdown: false }, { markdown: false }],
  [{ title: ' ' }, { title: null }],
])('reads %j as %j', async (fields, expected) => {
  expect(await send({ topic: name, message: 'x', ...fields })).toMatchObject({ status: 200, body: expected });
});

test.each([
  [{}, 'topic: is required'],
  [{ topic: 7, message: 'x' }, 'topic: must be a string'],
  [{ message: 5 }, 'message: must be a string'],
  [{ message: '' }, 'message: is required: send it as the body'],
  [{ message: 'x'.repeat(4_001) }, 'message: must be at most 4000 characters'],
  [{ message: 'x', title: 'y'.repeat(251) }, 'title: must be at most 250 characters'],
  [{ message: 'x', priority: 6 }, 'priority: must be 1 to 5, or min, low, default, high, max or urgent'],
  [{ message: 'x', priority: 2.5 }, 'priority: must be 1 to 5, or min, low, default, high, max or urgent'],
  [{ message: 'x', priority: true }, 'priority: must be 1 to 5 or a name'],
  [{ message: 'x', tags: [1] }, 'tags: must be an array of strings, or one comma-separated string'],
  [{ message: 'x', tags: ['t'.repeat(65)] }, 'tags: each must be at most 64 characters'],
  [{ message: 'half \ud800 of a pair' }, 'message: must be valid Unicode'],
  [{ message: 'x', title: '\udc00' }, 'title: must be valid Unicode'],
  [{ message: 'x', tags: ['\ud800'] }, 'tags: must be valid Unicode'],
])('returns 422 for %j', async (fields, detail) => {
  const json = Object.keys(fields).length === 0 ? {} : { topic: name, ...fields };
  expect(await send(json)).toMatchObject({ status: 422, body: { detail } });
});

test('returns 400 for malformed JSON and 422 for JSON that is not an object', async () => {
  const text = (body: string | Uint8Array<ArrayBuffer>) => new Client().call('POST', '/', { text: body });
  expect(await text('{"topic":')).toMatchObject({ status: 400, body: { detail: 'The body is not valid JSON' } });
  expect(await text('')).toMatchObject({ status: 422, body: { detail: 'topic: is required' } });
  expect(await text('['.repeat(60_000))).toMatchObject({ status: 400 });
  expect(await text('[]')).toMatchObject({ status: 422, body: { detail: 'body: must be a JSON object' } });
  expect(await text('null')).toMatchObject({ status: 422 });
  expect(await text(new Uint8Array([0x22, 0xff, 0x22]))).toMatchObject({
    status: 422,
    body: { detail: 'body: must be valid UTF-8' },
  });
  expect(await text('x'.repeat(65_537))).toMatchObject({ status: 413 });
});

test('returns 404 for an unknown topic, whatever its name contains', async () => {
  for (const topic of [newTopicName(), 'a/b', '', '__proto__', 'api', '\u0000', 'x'.repeat(5_000)]) {
    expect(await send({ topic, message: 'x' })).toMatchObject({ status: 404, body: { detail: 'Topic not found' } });
  }
});

test('a private topic requires the same access as by its own path', async () => {
  const closed = await createTopic(owner, { access_level: 'private' });
  const json = { topic: closed.name, message: 'x' };
  expect(await send(json)).toMatchObject({ status: 401, body: { detail: 'Not authenticated' } });
  expect(await (await stack.person()).post('/', json)).toMatchObject({
    status: 403,
    body: { detail: 'Insufficient permissions to access this topic' },
  });
  expect(await owner.post('/', json)).toMatchObject({ status: 200 });
});

test('JSON names of built-in object properties have no effect', async () => {
  const polluted = await new Client().call('POST', '/', {
    text: `{"topic":"${name}","message":"x","__proto__":{"title":"stolen","priority":5},"constructor":{"prototype":{"markdown":true}}}`,
  });
  expect(polluted).toMatchObject({ status: 200, body: { title: null, priority: 3, markdown: false } });
  expect((await send({ topic: name, message: 'y' })).body).toMatchObject({ title: null, priority: 3, markdown: false });
});
