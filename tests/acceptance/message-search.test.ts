import { beforeAll, describe, expect, test } from '@jest/globals';
import { createTopic, newTopicName } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';
import { asReader } from '../support/as-reader.ts';

const stack = useStack();
let reader: Person;
let own: { id: string; name: string };
let followed: { id: string; name: string };
let ofTeam: { id: string; name: string };
let elsewhere: { id: string; name: string };
// oxlint-disable-next-line typescript/no-explicit-any -- a test asserts what it finds
const published: any[] = [];

// One topic of each kind and one unrelated to the reader, with two messages each, alternating.
beforeAll(async () => {
  const other = await stack.person({ tier: 'TEAM' });
  reader = await stack.person({ tier: 'TEAM' });
  own = await createTopic(reader, { access_level: 'private' });
  followed = await createTopic(other);
  ofTeam = await createTopic(other, {
    access_level: 'private',
    team_id: await stack.team(other, [[reader, 'member']]),
  });
  elsewhere = await createTopic(other);
  await reader.post('/api/subscriptions', { topic_name: followed.name });
  const ways: [Person, { name: string }][] = [
    [reader, own],
    [other, followed],
    [other, ofTeam],
    [other, elsewhere],
  ];
  for (const turn of [1, 2]) {
    for (const [index, [person, { name }]] of ways.entries()) {
      const json = {
        topic: name,
        message: `Turn ${turn} of ${index}`,
        priority: 1 + ((turn + index) % 5),
        tags: [`t${turn}`, `i${index}`],
      };
      const {
        body: { event: _event, time: _time, expires: _expires, ...message },
      } = await person.post('/', json);
      published.push(person === reader ? message : asReader(message));
    }
  }
});

const search = (query = '') => reader.get(`/api/messages/search${query}`);
const ofReader = () => published.filter(({ topic_id }) => topic_id !== elsewhere.id).toReversed();
const noFilters = { topic: null, priority_min: null, priority_max: null, tags: null, date_from: null, date_to: null };

test('covers topics that the caller owns, subscribes to or reaches through a team, newest first', async () => {
  const { status, body, headers } = await search();
  expect([status, body]).toEqual([
    200,
    { messages: ofReader(), total: 6, limit: 50, offset: 0, query: null, filters: noFilters },
  ]);
  expect(headers.get('x-total-count')).toBe('6');
});

test('searches only the named topic, including any public topic', async () => {
  for (const topic of [own, followed, ofTeam, elsewhere]) {
    const { status, body } = await search(`?topic=${topic.name.toUpperCase()}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ total: 2, filters: { ...noFilters, topic: topic.name } });
    expect(body.messages).toEqual(published.filter(({ topic_id }) => topic_id === topic.id).toReversed());
  }
  expect((await search('?topic=')).body.total).toBe(6);
});

test('returns the filters as interpreted', async () => {
  const { timestamp } = published[4];
  const query = `?q=TURN&topic=${own.name}&priority_min=1&priority_max=5&tags=t2,i9&tags=%20i8&date_from=2026-01-01&date_to=${encodeURIComponent(timestamp)}`;
  const { body } = await search(query);
  expect(body).toMatchObject({ total: 1, query: 'TURN', messages: [published[4]] });
  expect(body.filters).toEqual({
    topic: own.name,
    priority_min: 1,
    priority_max: 5,
    tags: ['t2', 'i9', 'i8'],
    date_from: '2026-01-01T00:00:00.000Z',
    date_to: timestamp,
  });
  expect((await search('?tags=,&q=%20&date_to=2099-12-31')).body).toMatchObject({
    total: 6,
    query: null,
    filters: { ...noFilters, date_to: '2099-12-31T23:59:59.999Z' },
  });
});

test.each([
  ['q=turn%201', 3],
  ['q=OF%200', 2],
  ['tags=t1', 3],
  ['tags=i0,i2', 4],
  ['tags=I0', 0],
  ['priority_min=4', 3],
  ['priority_max=2', 1],
  ['q=turn&tags=t2&priority_max=3', 1],
])('?%s', async (query, count) => {
  const { body } = await search(`?${query}`);
  expect([body.total, body.messages.length]).toEqual([count, count]);
});

test('paginates by limit and offset or by page, with totals in the headers', async () => {
  const newestFirst = ofReader();
  const { body, headers } = await search('?limit=2&offset=3');
  expect(body).toMatchObject({ messages: newestFirst.slice(3, 5), total: 6, limit: 2, offset: 3 });
  expect([headers.get('x-total-count'), headers.get('x-page')]).toEqual(['6', null]);
  const page = await search('?page=2&per_page=4&q=turn');
  expect(page.body).toMatchObject({ messages: newestFirst.slice(4), total: 6, limit: 4, offset: 4 });
  expect(['x-total-count', 'x-page', 'x-per-page'].map((name) => page.headers.get(name))).toEqual(['6', '2', '4']);
  const seen: string[] = [];
  for (let offset = 0; offset < 6; offset += 1)
    seen.push((await search(`?limit=1&offset=${offset}`)).body.messages[0].id);
  expect(seen).toEqual(newestFirst.map(({ id }) => id));
});

test.each([
  ['limit=101', 'limit'],
  ['offset=x', 'offset'],
  ['priority_min=5&priority_max=1', 'priority_min'],
  ['date_from=2026-02-01&date_to=2026-01-01', 'date_from'],
  [`q=${'x'.repeat(201)}`, 'q'],
  ['q=a&q=b', 'q'],
  ['topic=a&topic=b', 'topic'],
  [`tags=${Array.from({ length: 21 }, (_, index) => index).join(',')}`, 'tags'],
])('?%s returns 422', async (query, field) => {
  const { status, body } = await search(`?${query}`);
  expect(status).toBe(422);
  expect(body.detail).toMatch(new RegExp(`^${field}: `));
});

test('publishes, edits and deletions are searchable immediately on every node', async () => {
  const { body: message } = await reader.publish(own.name, 'fresh one');
  const on = async (node: number, q: string) =>
    (await reader.client.call('GET', `/api/messages/search?q=${encodeURIComponent(q)}`, { node })).body.total as number;
  expect([await on(0, 'FRESH ONE'), await on(1, 'FRESH ONE')]).toEqual([1, 1]);
  const path = `/api/${own.name}/messages/${message.id}`;
  await reader.patch(path, { message: 'stale one' });
  expect([await on(0, 'fresh one'), await on(1, 'stale one')]).toEqual([0, 1]);
  await reader.delete(path);
  expect([await on(0, 'stale one'), await on(1, 'stale one')]).toEqual([0, 0]);
});

describe('without any topics', () => {
  test('returns no results', async () => {
    expect((await (await stack.person()).get('/api/messages/search?q=turn')).body).toMatchObject({
      messages: [],
      total: 0,
    });
  });

  test('a named topic must exist and be readable', async () => {
    expect(await search(`?topic=${newTopicName()}&limit=0`)).toMatchObject({
      status: 404,
      body: { detail: 'Topic not found' },
    });
    const stranger = await stack.person();
    expect(await stranger.get(`/api/messages/search?topic=${own.name}&limit=0`)).toMatchObject({
      status: 403,
      body: { detail: 'Insufficient permissions to access this topic' },
    });
  });
});
