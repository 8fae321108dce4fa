import { beforeAll, expect, test } from '@jest/globals';
import { Client, createTopic, type CallOptions } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
let owner: Person;
let topic: { id: string; name: string };

beforeAll(async () => {
  owner = await stack.person();
  topic = await createTopic(owner);
});

const publish = (options: CallOptions, method = 'POST') => new Client().call(method, `/${topic.name}`, options);
const bytes = (...values: number[]) => new Uint8Array(values);

test.each(['POST', 'PUT'])('%s publishes the body and returns the complete message object', async (method) => {
  const { status, headers, body } = await publish({ text: 'Disk full on db-1' }, method);
  expect(status).toBe(200);
  expect(headers.get('content-type')).toBe('application/json');
  expect(body).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
    topic_id: topic.id,
    topic: topic.name,
    message: 'Disk full on db-1',
    title: null,
    priority: 3,
    tags: [],
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    offset: expect.any(Number),
    markdown: false,
    is_deleted: false,
    is_edited: false,
    deleted_at: null,
    edited_at: null,
    click: null,
    actions: [],
    icon_url: null,
    silent: false,
    requires_ack: false,
    acknowledged_at: null,
    acknowledged_by: null,
    published_by: null,
  });
  expect(Date.parse(body.expires_at) - Date.parse(body.timestamp)).toBe(7 * 86_400_000);
});

test.each([
  ['line breaks, tabs and blanks at both ends', ' \t a\r\nb\n\n'],
  ['a byte order mark and a NUL', '\uFEFFa\u0000b'],
  ['Markdown and HTML', '# **x** <script>alert(1)</script> [a](http://b)'],
  ['characters that JSON and SSE must escape', '"\\\u2028\u2029\u0085\ndata: x\n\nevent: y'],
  ['characters of all planes, decomposed', 'Ä A\u0308 漢字 👩‍👩‍👧‍👦 \u{10FFFF}'],
])('returns %s unchanged', async (_what, text) => {
  const published = await publish({ text });
  expect(published).toMatchObject({ status: 200, body: { message: text } });
  const history = await new Client().call('GET', `/${topic.name}/json?since=${published.body.id}&limit=1`);
  expect(history.status).toBe(200);
  const before = await new Client().call('GET', `/${topic.name}/json?limit=100`);
  expect(before.body.messages.find(({ id }: { id: string }) => id === published.body.id)).toEqual(published.body);
});

test.each([
  'application/json',
  'application/octet-stream',
  'application/x-www-form-urlencoded',
  'image/png',
  'nonsense',
])('reads a body of type %s as text', async (type) => {
  expect(await publish({ text: '{"a":1}', headers: { 'Content-Type': type } })).toMatchObject({
    status: 200,
    body: { message: '{"a":1}', markdown: false },
  });
});

test('a body without a type is text', async () => {
  expect(await publish({ text: new TextEncoder().encode('plain') })).toMatchObject({
    status: 200,
    body: { message: 'plain' },
  });
});

test('counts 4,000 characters in code points', async () => {
  expect(await publish({ text: '😀'.repeat(4_000) })).toMatchObject({ status: 200 });
  expect(await publish({ text: '😀'.repeat(4_001) })).toMatchObject({
    status: 422,
    body: { detail: 'message: must be at most 4000 characters' },
  });
  expect((await publish({ text: 'x'.repeat(4_000) })).status).toBe(200);
  expect((await publish({ text: 'x'.repeat(4_001) })).status).toBe(422);
});

test.each([
  ['a lone continuation byte', bytes(0x61, 0x80)],
  ['an overlong form', bytes(0xc0, 0xaf)],
  ['an encoded surrogate', bytes(0xed, 0xa0, 0x80)],
  ['a character cut off', bytes(0x61, 0xf0, 0x9f, 0x98)],
  ['UTF-16', bytes(0xff, 0xfe, 0x61, 0x00)],
])('refuses %s as invalid UTF-8', async (_what, text) => {
  expect(await publish({ text })).toMatchObject({ status: 422, body: { detail: 'message: must be valid UTF-8' } });
});

test('returns 422 for an empty body without X-Message', async () => {
  expect(await publish({})).toMatchObject({
    status: 422,
    body: { detail: 'message: is required: send it as the body' },
  });
  expect((await publish({ text: '' })).status).toBe(422);
  expect((await publish({ headers: { 'X-Message': '  ' } })).status).toBe(422);
});

test('returns 413 for a body beyond 64 KiB before other errors', async () => {
  expect(await publish({ text: 'x'.repeat(65_536) })).toMatchObject({ status: 422 });
  const refused = await publish({ text: 'x'.repeat(65_537), headers: { 'X-Priority': '9' } });
  expect(refused).toMatchObject({ status: 413, body: { detail: 'The body must be at most 65536 bytes' } });
  expect(refused.headers.get('connection')).toBe('close');
});

test.each([
  ['the header', { headers: { 'X-Markdown': 'TRUE' } }, true],
  ['its alias', { headers: { Md: '1' } }, true],
  ['the content type', { headers: { 'Content-Type': 'text/markdown; charset=utf-8' } }, true],
  ['the query', { query: '?markdown=yes' }, true],
  ['another word', { headers: { 'X-Markdown': 'on' } }, false],
  ['the header before its alias', { headers: { 'X-Markdown': 'no', Markdown: 'yes' } }, false],
])('markdown by %s', async (_what, sent: { headers?: Record<string, string>; query?: string }, markdown) => {
  const answer = await new Client().call('POST', `/${topic.name}${sent.query ?? ''}`, {
    text: '*a*',
    ...(sent.headers === undefined ? {} : { headers: sent.headers }),
  });
  expect(answer).toMatchObject({ status: 200, body: { markdown, message: '*a*' } });
});

test('offsets increase within a topic, and acknowledged messages are readable immediately on every node', async () => {
  const own = await createTopic(owner);
  const client = new Client();
  let last = -1;
  for (let count = 1; count <= 6; count += 1) {
    const { body } = await client.call('POST', `/${own.name}`, { text: `${count}`, node: count });
    expect(body.offset).toBeGreaterThan(last);
    last = body.offset as number;
    const read = await client.call('GET', `/${own.name}/json`, { node: count + 1 });
    expect(read.body.messages.map(({ message }: { message: string }) => message)).toEqual(
      Array.from({ length: count }, (_, index) => `${index + 1}`),
    );
  }
});
