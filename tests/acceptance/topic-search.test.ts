import { beforeAll, describe, expect, test } from '@jest/globals';
import { createTopic, newTopicName, type Answer } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';
import { asReader } from '../support/as-reader.ts';

const stack = useStack();
let owner: Person;
let topic: { id: string; name: string };
// oxlint-disable-next-line typescript/no-explicit-any -- a test asserts what it finds
const published: any[] = [];

const drafts = [
  { message: 'Disk is full on db-1', title: 'Alarm', priority: 5, tags: ['disk', 'db'] },
  { message: 'Backup finished', title: null, priority: 2, tags: ['backup'] },
  { message: 'Größe: 100% (a+)+$', title: 'STRASSE', priority: 3, tags: [] },
  { message: 'the disk_is fine\0again', title: 'all clear', priority: 1, tags: ['disk', 'Ok'] },
  { message: 'last', title: null, priority: 4, tags: ['ok', 'über, alles'] },
];

beforeAll(async () => {
  owner = await stack.person({ tier: 'TEAM' });
  topic = await createTopic(owner);
  for (const draft of drafts) {
    const {
      body: { event: _event, time: _time, expires: _expires, ...message },
    } = await owner.post('/', { topic: topic.name, ...draft });
    published.push(asReader(message));
  }
});

const search = (query = '', name = topic.name): Promise<Answer> =>
  stack.caller().get(`/api/topics/${name}/messages${query}`);
/** The numbers of the drafts that were found, in the order of the response. */
const found = async (query: string): Promise<number[]> => {
  const { status, body } = await search(query);
  expect([status, body.total]).toEqual([200, body.messages.length]);
  return body.messages.map(({ id }: { id: string }) => published.findIndex((one) => one.id === id));
};
const encoded = (text: string) => encodeURIComponent(text);

test('without a query returns all messages of the topic, newest first, as published', async () => {
  const { status, body, headers } = await search();
  expect([status, body]).toEqual([
    200,
    { messages: published.toReversed(), total: 5, limit: 50, offset: 0, query: null, topic: topic.name },
  ]);
  expect(headers.get('x-total-count')).toBe('5');
  expect([headers.get('x-page'), headers.get('x-per-page')]).toEqual([null, null]);
});

describe('`q`', () => {
  test.each([
    ['disk', [3, 0]],
    ['DISK', [3, 0]],
    ['alarm', [0]],
    ['is full on', [0]],
    ['strasse', [2]],
    ['straße', [2]],
    ['GRÖSSE', [2]],
    ['0%', [2]],
    ['disk_', [3]],
    ['(a+)+$', [2]],
    ['.*', []],
    ['\\', []],
    ['e\0A', [3]],
    ['\0', [3]],
    ['Alarm Disk', []],
  ])('finds %j in title and text, case-insensitively and literally', async (text, expected) => {
    expect(await found(`?q=${encoded(text)}`)).toEqual(expected);
    expect((await search(`?q=${encoded(text)}`)).body.query).toBe(text);
  });

  test.each(['', '   ', '\t\n'])('%j means no query', async (text) => {
    expect((await search(`?q=${encoded(text)}`)).body).toMatchObject({ total: 5, query: null });
  });

  test('has at most 200 characters', async () => {
    expect((await search(`?q=${encoded('😀'.repeat(200))}`)).body).toMatchObject({ total: 0 });
    const { status, body } = await search(`?q=${'x'.repeat(201)}`);
    expect([status, body.detail]).toEqual([422, 'q: must be at most 200 characters']);
  });
});

describe('filters', () => {
  test.each([
    ['tags=disk', [3, 0]],
    ['tags=backup,db', [1, 0]],
    ['tags=backup&tags=db', [1, 0]],
    ['tags=backup&tags=db,Ok', [3, 1, 0]],
    ['tags=OK', []],
    ['tags=%20disk%20,,', [3, 0]],
    ['tags=', [4, 3, 2, 1, 0]],
    ['tags=is', []],
    ['tags=alles', []],
    ['priority_min=4', [4, 0]],
    ['priority_max=2', [3, 1]],
    ['priority_min=2&priority_max=3', [2, 1]],
    ['priority_min=5&priority_max=5', [0]],
    ['q=disk&tags=Ok&priority_max=1', [3]],
    ['q=disk&priority_min=2&priority_max=4', []],
  ])('?%s', async (query, expected) => {
    expect(await found(`?${query}`)).toEqual(expected);
  });

  test('times limit the timestamp, both inclusive, in any notation', async () => {
    const [second, fourth] = [published[1].timestamp as string, published[3].timestamp as string];
    const within = published
      .map(({ timestamp }, index) => ({ timestamp, index }))
      .filter(({ timestamp }) => timestamp >= second && timestamp <= fourth)
      .map(({ index }) => index)
      .reverse();
    expect(await found(`?date_from=${second}&date_to=${fourth}`)).toEqual(within);
    const abroad = (time: string) =>
      encoded(new Date(Date.parse(time) - 5 * 3_600_000).toISOString().replace('Z', '-05:00'));
    expect(await found(`?date_from=${abroad(second)}&date_to=${abroad(fourth)}`)).toEqual(within);
    const before = new Date(Date.parse(published[0].timestamp) - 1).toISOString();
    expect(await found(`?date_to=${before}`)).toEqual([]);
    expect(await found(`?date_from=${before}`)).toHaveLength(5);
  });

  test('a bare date means the start of the day, in date_to its end', async () => {
    const [first, last] = [published[0].timestamp.slice(0, 10), published[4].timestamp.slice(0, 10)] as [
      string,
      string,
    ];
    expect(await found(`?date_from=${first}&date_to=${last}`)).toHaveLength(5);
    const tomorrow = new Date(Date.parse(last) + 86_400_000).toISOString().slice(0, 10);
    expect(await found(`?date_from=${tomorrow}`)).toEqual([]);
    const yesterday = new Date(Date.parse(first) - 86_400_000).toISOString().slice(0, 10);
    expect(await found(`?date_to=${yesterday}`)).toEqual([]);
  });

  test.each([
    ['priority_min=0', 'priority_min'],
    ['priority_max=6', 'priority_max'],
    ['priority_min=high', 'priority_min'],
    ['priority_min=4&priority_max=3', 'priority_min'],
    ['date_from=yesterday', 'date_from'],
    ['date_to=2026-02-30', 'date_to'],
    ['date_from=2026-02-02&date_to=2026-02-01', 'date_from'],
    ['date_from=2026-02-02T00:00:00.001Z&date_to=2026-02-02T00:00:00Z', 'date_from'],
    [`tags=${Array.from({ length: 21 }, (_, index) => index).join(',')}`, 'tags'],
    ['q=a&q=b', 'q'],
    ['priority_min=1&priority_min=1', 'priority_min'],
    ['include_deleted=maybe', 'include_deleted'],
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['offset=-1', 'offset'],
    ['page=0', 'page'],
    ['per_page=101', 'per_page'],
  ])('?%s returns 422', async (query, field) => {
    const { status, body } = await search(`?${query}`);
    expect(status).toBe(422);
    expect(body.detail).toMatch(new RegExp(`^${field}: `));
  });

  test('ignores unknown parameters', async () => {
    expect((await search('?unknown=1&priority=9')).body.total).toBe(5);
  });
});

describe('pages', () => {
  test('by limit and offset', async () => {
    const { body, headers } = await search('?limit=2&offset=1');
    expect(body).toEqual({
      messages: [published[3], published[2]],
      total: 5,
      limit: 2,
      offset: 1,
      query: null,
      topic: topic.name,
    });
    expect(headers.get('x-total-count')).toBe('5');
    expect((await search('?offset=5')).body).toMatchObject({ messages: [], total: 5 });
    expect((await search('?q=disk&limit=1&offset=1')).body).toMatchObject({
      messages: [published[0]],
      total: 2,
      offset: 1,
    });
  });

  test('by page and per_page, which take precedence', async () => {
    const { body, headers } = await search('?page=2&per_page=2&limit=99&offset=99');
    expect(body).toMatchObject({ messages: [published[2], published[1]], total: 5, limit: 2, offset: 2 });
    expect([headers.get('x-total-count'), headers.get('x-page'), headers.get('x-per-page')]).toEqual(['5', '2', '2']);
    expect((await search('?page=1')).body).toMatchObject({ limit: 20, offset: 0 });
    expect((await search('?per_page=3')).body).toMatchObject({ limit: 3, offset: 0, messages: { length: 3 } });
  });
});

test('finds the topic case-insensitively, shows its original spelling, and returns 404 for an unknown one', async () => {
  expect((await search('', topic.name.toUpperCase())).body.topic).toBe(topic.name);
  expect(await search('?limit=0', newTopicName())).toMatchObject({ status: 404, body: { detail: 'Topic not found' } });
});

test('finds an edited message by its current text', async () => {
  const own = await createTopic(owner);
  const { body: message } = await owner.publish(own.name, 'before');
  await owner.patch(`/api/${own.name}/messages/${message.id}`, { message: 'ÄFTER' });
  expect((await search('?q=before', own.name)).body.total).toBe(0);
  expect((await search('?q=äfter', own.name)).body).toMatchObject({
    total: 1,
    messages: [{ id: message.id, message: 'ÄFTER', is_edited: true }],
  });
});

describe('deleted messages', () => {
  let own: { name: string };
  let gone: { id: string };
  let deletedAt: string;
  let admin: Person;
  let member: Person;
  beforeAll(async () => {
    [admin, member] = [await stack.person(), await stack.person()];
    own = await createTopic(owner, {
      team_id: await stack.team(owner, [
        [admin, 'admin'],
        [member, 'member'],
      ]),
    });
    await owner.publish(own.name, 'kept');
    gone = (await owner.post('/', { topic: own.name, message: 'gone text', title: 'Gone', tags: ['g'] })).body;
    deletedAt = (await owner.delete(`/api/${own.name}/messages/${gone.id}`)).body.deleted_at;
  });
  const path = (query: string) => `/api/topics/${own.name}/messages${query}`;

  test('appear with content only for managers who request them', async () => {
    for (const query of ['', '?include_deleted=false', '?q=gone', '?tags=g'])
      expect((await owner.get(path(query))).body.messages).not.toMatchObject([{ id: gone.id }]);
    const whole = {
      id: gone.id,
      message: 'gone text',
      title: 'Gone',
      tags: ['g'],
      is_deleted: true,
      deleted_at: deletedAt,
    };
    for (const manager of [owner, admin]) {
      expect((await manager.get(path('?include_deleted=true'))).body).toMatchObject({
        total: 2,
        messages: [whole, { message: 'kept', is_deleted: false }],
      });
      expect((await manager.get(path('?include_deleted=1&q=GONE'))).body).toMatchObject({
        total: 1,
        messages: [whole],
      });
    }
    expect((await owner.get(path(''))).body.total).toBe(1);
  });

  test('are refused to all others, before other errors', async () => {
    const refused = { status: 403, body: { detail: 'Insufficient permissions to access this topic' } };
    const tokens = `/api/topics/${own.name}/access-tokens`;
    const { token } = (await owner.post(tokens, { name: 't', permissions: ['read', 'write'] })).body;
    for (const other of [member, await stack.person({ tier: 'TEAM' }), stack.caller({ 'X-Topic-Token': token })]) {
      expect(await other.get(path('?include_deleted=true'))).toMatchObject(refused);
      expect(await other.get(path('?include_deleted=1&limit=0'))).toMatchObject(refused);
      expect((await other.get(path('?include_deleted=0'))).status).toBe(200);
    }
    expect(await stack.caller().get(path('?include_deleted=true'))).toMatchObject({
      status: 401,
      body: { detail: 'Not authenticated' },
    });
  });
});
