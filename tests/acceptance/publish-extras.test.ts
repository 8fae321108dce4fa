import { beforeAll, describe, expect, test } from '@jest/globals';
import { createTopic } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';
import { transports, useStreams, type ClientStream } from '../support/use-streams.ts';

const stack = useStack();
const streams = useStreams();
let owner: Person;
let topic: { id: string; name: string };
beforeAll(async () => {
  owner = await stack.person({ tier: 'TEAM' });
  topic = await createTopic(owner);
});

const view = { action: 'view', label: 'Open', url: 'https://example.com/door', clear: false };
const http = {
  action: 'http',
  label: 'Close',
  url: 'https://example.com/close',
  method: 'PUT',
  headers: { 'X-Room': '4' },
  body: '{"open":false}',
  clear: true,
};

const publishAs = (person: Person, headers: Record<string, string>, text = 'The door is open') =>
  person.client.call('POST', `/${topic.name}`, { text, headers });
const publish = (headers: Record<string, string>, text?: string) => publishAs(owner, headers, text);
const history = async (person: Pick<Person, 'get'> = owner) =>
  (await person.get(`/${topic.name}/json?since=all&limit=100`)).body.messages as Record<string, unknown>[];

describe('the fields of a message that leads somewhere', () => {
  test('have their defaults when absent', async () => {
    const { body } = await publish({});
    expect(body).toMatchObject({
      click: null,
      actions: [],
      icon_url: null,
      silent: false,
      requires_ack: false,
      acknowledged_at: null,
      acknowledged_by: null,
    });
  });

  test.each([
    ['headers', { Click: 'myapp://door/4', Icon: 'https://example.com/door.png', Silent: 'yes', TTL: '30m' }],
    [
      'X- headers',
      { 'X-Click': 'myapp://door/4', 'X-Icon': 'https://example.com/door.png', 'X-Silent': '1', 'X-TTL': '30m' },
    ],
  ])('are read from %s, and are the same in the response and in history', async (_, headers) => {
    const { status, body } = await publish(headers);
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({ click: 'myapp://door/4', icon_url: 'https://example.com/door.png', silent: true }),
    ]);
    expect(Date.parse(body.expires_at) - Date.parse(body.timestamp)).toBe(30 * 60_000);
    expect(await history()).toContainEqual(body);
  });

  test('are read from JSON, also in search and in the log', async () => {
    const { body } = await owner.post('/', {
      topic: topic.name,
      message: 'with JSON',
      click: 'https://example.com',
      icon: 'https://example.com/i.png',
      actions: [view, http, { action: 'ack', label: 'I have it' }],
      silent: true,
    });
    const shown = { click: 'https://example.com', actions: [view, http, { action: 'ack', label: 'I have it' }] };
    expect(body).toMatchObject(shown);
    const found = await owner.get(`/api/topics/${topic.name}/messages?q=with+JSON`);
    expect(found.body.messages).toEqual([expect.objectContaining({ id: body.id, ...shown, silent: true })]);
    const log = await owner.get(`/api/topics/${topic.name}/log?from_offset=${body.offset}`);
    expect(log.body.records[0].message).toMatchObject({ id: body.id, ...shown });
  });

  test.each([
    ['click', { Click: 'javascript:alert(1)' }],
    ['click', { Click: 'DATA:text/html,hello' }],
    ['click', { Click: 'vbscript:x' }],
    ['click', { Click: 'file:///etc/passwd' }],
    ['click', { Click: 'blob:https://example.com/1' }],
    ['click', { Click: '/relative' }],
    ['click', { Click: `https://example.com/${'a'.repeat(2_048)}` }],
    ['icon_url', { Icon: 'http://example.com/i.png' }],
    ['icon_url', { Icon: 'nonsense' }],
    ['ttl', { TTL: '29s' }],
    ['ttl', { TTL: '91d' }],
    ['ttl', { TTL: 'soon' }],
    ['silent', { Silent: 'perhaps' }],
    ['sequence_id', { 'X-Sequence-ID': 'with space' }],
    ['sequence_id', { 'X-Sequence-ID': 'a'.repeat(129) }],
    ['actions', { Actions: 'view, Open' }],
    ['actions', { Actions: 'view, Open, javascript:alert(1)' }],
    ['actions', { Actions: 'http, Close, myapp://close' }],
    ['actions', { Actions: 'http, Close, https://example.com, method=TRACE' }],
    ['actions', { Actions: 'http, Close, https://example.com, clear=perhaps' }],
    ['actions', { Actions: 'dance, Now' }],
    ['actions', { Actions: 'view, "Open, https://example.com' }],
    ['actions', { Actions: '[{"action":' }],
    ['actions', { Actions: Array(4).fill('view, Open, https://example.com').join(';') }],
  ])('%s out of its rule is a 422 that names it (%#)', async (field, headers) => {
    const { status, body } = await publish(headers);
    expect([status, body.detail]).toEqual([422, expect.stringContaining(`${field}:`)]);
  });

  test.each([
    ['12 headers', { headers: Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`x-${index}`, '1'])) }],
    ['a long body', { body: 'a'.repeat(4_097) }],
    ['a header with a line break', { headers: { 'X-A': 'one\r\ntwo' } }],
    ['no label', { label: ' ' }],
  ])('an http action with %s is a 422', async (_, fields) => {
    const { status, body } = await owner.post('/', {
      topic: topic.name,
      message: 'x',
      actions: [{ ...http, ...fields }],
    });
    expect([status, body.detail]).toEqual([422, expect.stringMatching(/^actions:/)]);
  });
});

describe("ntfy's short form of actions", () => {
  test.each([
    ['view, Open, https://example.com/door', [view]],
    ['action=view, label=Open, url=https://example.com/door', [view]],
    [
      "view, 'Open, or not; \\'now\\'', https://example.com/door, clear=true",
      [{ ...view, label: "Open, or not; 'now'", clear: true }],
    ],
    [
      `view, Open, https://example.com/door; http, Close, https://example.com/close, method=put, headers.X-Room=4, body='{"open":false}', clear=yes`,
      [view, http],
    ],
    ['broadcast, Take picture, extras.cmd=pic; view, Open, https://example.com/door', [view]],
    ['ack, I have it', [{ action: 'ack', label: 'I have it' }]],
  ])('%s', async (actions, expected) => {
    const { body } = await publish({ Actions: actions });
    expect(body.actions).toEqual(expected);
  });
});

describe('published_by', () => {
  test('names the account, the API key or the token to managers of the topic only', async () => {
    const other = await stack.person();
    const key = await owner.post('/api/keys', { name: 'backup job', scopes: ['publish'] });
    const token = await owner.post(`/api/topics/${topic.name}/access-tokens`, {
      name: 'sensor',
      permissions: ['write'],
    });
    const byAccount = (await publish({})).body;
    const byOther = (await other.publish(topic.name)).body;
    const byKey = (await stack.caller({ 'X-API-Key': key.body.key }).publish(topic.name)).body;
    const byToken = (await stack.caller({ 'X-Topic-Token': token.body.token }).publish(topic.name)).body;
    const byNobody = (await stack.caller().publish(topic.name)).body;
    expect(byAccount.published_by).toEqual({ kind: 'account', name: owner.user.username });
    expect([byOther, byToken, byNobody].map(({ published_by }) => published_by)).toEqual([null, null, null]);
    const publishers = new Map((await history()).map(({ id, published_by }) => [id, published_by]));
    expect([byOther, byKey, byToken, byNobody].map(({ id }) => publishers.get(id))).toEqual([
      { kind: 'account', name: other.user.username },
      { kind: 'api_key', name: 'backup job' },
      { kind: 'topic_token', name: 'sensor' },
      { kind: 'anonymous', name: null },
    ]);
    expect((await history(other)).every(({ published_by }) => published_by === null)).toBe(true);
  });

  test.each(transports)('is on the streams of managers only: %s', async (transport) => {
    const other = await stack.person();
    const [ofOwner, ofOther] = await Promise.all(
      [owner, other].map(({ client }) => streams.open(transport, { topic: topic.name }, { token: client.token })),
    );
    await Promise.all([ofOwner!.ready(), ofOther!.ready()]);
    const { body } = await publish({});
    await Promise.all([ofOwner!.texts(1), ofOther!.texts(1)]);
    const publisherIn = (stream: ClientStream) =>
      stream.ofType('message').map(({ data }) => [data.id, data.published_by]);
    expect(publisherIn(ofOwner!)).toEqual([[body.id, { kind: 'account', name: owner.user.username }]]);
    expect(publisherIn(ofOther!)).toEqual([[body.id, null]]);
  });
});

describe('a sequence ID', () => {
  test('replaces the earlier message of the same publisher', async () => {
    const first = (await publish({ 'X-Sequence-ID': 'job-1', Click: 'https://example.com/1' }, '50 %')).body;
    const second = (await publish({ 'Sequence-ID': 'job-1', Priority: '5' }, 'done')).body;
    expect(second).toMatchObject({
      id: first.id,
      offset: first.offset,
      message: 'done',
      priority: 5,
      click: null,
      is_edited: true,
    });
    expect((await history()).filter(({ id }) => id === first.id)).toEqual([second]);
    const log = await owner.get(`/api/topics/${topic.name}/log?from_offset=${first.offset}`);
    expect(log.body.records.map((record: { type: string }) => record.type)).toEqual(['message', 'message_edited']);
  });

  test('is separate per publisher and topic', async () => {
    const other = await stack.person();
    const first = (await publish({ 'X-Sequence-ID': 'job-2' })).body;
    const ofOther = await publishAs(other, { 'X-Sequence-ID': 'job-2' });
    expect(ofOther.body.id).not.toBe(first.id);
  });

  test('publishes a new message after the deletion of the earlier one', async () => {
    const first = (await publish({ 'X-Sequence-ID': 'job-3' })).body;
    await owner.delete(`/api/${topic.name}/messages/${first.id}`);
    const second = (await publish({ 'X-Sequence-ID': 'job-3' })).body;
    expect([second.id === first.id, second.is_edited]).toEqual([false, false]);
  });

  test('makes one message of concurrent publishes', async () => {
    const published = await Promise.all(
      Array.from({ length: 8 }, (_, index) => publish({ 'X-Sequence-ID': 'job-4' }, `${index}`)),
    );
    expect(new Set(published.map(({ body }) => body.id)).size).toBe(1);
  });

  test('with an Idempotency-Key stores the first message once', async () => {
    const headers = { 'X-Sequence-ID': 'job-5', 'Idempotency-Key': `key-${topic.id}` };
    const [first, again] = [await publish(headers), await publish(headers)];
    expect([again.body.id, again.body.is_edited]).toEqual([first.body.id, false]);
  });
});

test('an edit changes click, actions, icon and silent', async () => {
  const { body } = await publish({ Click: 'https://example.com/1', Actions: 'view, Open, https://example.com/door' });
  const path = `/api/${topic.name}/messages/${body.id}`;
  const edit = { click: null, actions: [http], icon_url: 'https://example.com/i.png', silent: true };
  expect((await owner.patch(path, edit)).status).toBe(200);
  expect((await history()).find(({ id }) => id === body.id)).toMatchObject({
    ...edit,
    message: body.message,
    is_edited: true,
  });
  const refused = await owner.patch(path, { click: 'javascript:1', actions: [{}] });
  expect([refused.status, refused.body.detail]).toEqual([422, expect.stringMatching(/click: .*actions: /)]);
});

test('a deletion removes click, actions and icon', async () => {
  const { body } = await publish({ Click: 'https://example.com/1', Actions: 'view, Open, https://example.com/door' });
  await owner.delete(`/api/${topic.name}/messages/${body.id}`);
  const log = await owner.get(`/api/topics/${topic.name}/log?from_offset=${body.offset}`);
  for (const { message } of log.body.records)
    expect(message).toMatchObject({ click: null, actions: [], is_deleted: true });
});
