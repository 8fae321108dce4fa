import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { Client, createTopic, newAddress, testStack, type Answer } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';
import { transports, useStreams, type ClientStream, type Transport } from '../support/use-streams.ts';

/** Longer than the 25 seconds after which a stream tells its position, at any load. */
const positionWithin = { timeoutMs: 50_000 };

const stack = useStack();
const streams = useStreams();

interface Published {
  readonly id: string;
  readonly offset: number;
}
interface Content {
  readonly message: string;
  readonly title?: string;
  readonly priority?: number;
  readonly tags?: readonly string[];
}

let owner: Person;
let topic: { id: string; name: string };
let published: Published[];

/** The messages of `topic`, 1 to 5. */
const contents: Content[] = [
  { message: '1 Disk full', title: 'Storage', priority: 5, tags: ['db', 'prod'] },
  { message: '2 backup done', priority: 2, tags: ['db'] },
  { message: '3 STRASSE gesperrt', priority: 3 },
  { message: '4 door open', title: 'Disk room', priority: 4, tags: ['door'] },
  { message: '5 backup late', priority: 1, tags: ['Prod'] },
];

/** Each filter with the messages that it selects. */
const filters: [string, string][] = [
  ['priority_min=4', '14'],
  ['priority_max=2', '25'],
  ['priority_min=2&priority_max=4', '234'],
  ['tags=prod', '1'],
  ['tags=door,%20db&tags=none', '124'],
  ['q=disk', '14'],
  ['q=stra%C3%9Fe', '3'],
  ['q=backup&tags=db', '2'],
  ['q=%20&tags=', '12345'],
  ['q=nothing', ''],
];

async function publish(name: string, content: Content): Promise<Published> {
  const { status, body } = await new Client().call('POST', '/', { json: { topic: name, ...content } });
  expect([status, body]).toEqual([200, expect.anything()]);
  return body as Published;
}

beforeAll(async () => {
  owner = await stack.person({ tier: 'TEAM' });
  topic = await createTopic(owner);
  published = [];
  for (const content of contents) published.push(await publish(topic.name, content));
});

const get = (path: string, node = 0) => new Client().call('GET', path, { node });
const log = (query: string, name = topic.name) => get(`/api/topics/${name}/log?${query}`);
const history = (query: string, name = topic.name) => get(`/${name}/json?${query}`);
const numbers = (messages: readonly { message: string }[]) => messages.map(({ message }) => message[0]).join('');
const ofLog = ({ body }: Answer) => numbers(body.records.map((record: { message: Content }) => record.message));

/** The lines of a complete log. */
async function lines(query: string): Promise<Record<string, unknown>[]> {
  const response = await fetch(`${testStack().urls[0]}/api/topics/${topic.name}/log?${query}`, {
    headers: { Accept: 'application/x-ndjson', 'X-Forwarded-For': newAddress() },
  });
  return (await response.text())
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe.each(filters)('?%s selects as a search:', (query, expected) => {
  test('the search', async () => {
    const { body } = await get(`/api/topics/${topic.name}/messages?${query}`);
    expect(numbers(body.messages.toReversed())).toBe(expected);
  });

  test('the log, as JSON and as lines', async () => {
    expect(ofLog(await log(query))).toBe(expected);
    const records = (await lines(query)).filter(({ type }) => type === 'message');
    expect(numbers(records.map(({ message }) => message as Content))).toBe(expected);
  });

  test('history, with and without since', async () => {
    for (const since of ['', '&since=all'])
      expect(numbers((await history(`${query}${since}`)).body.messages)).toBe(expected);
  });

  test.each(transports)('a stream over %s, from the beginning and live', async (transport) => {
    const own = await createTopic(owner);
    for (const content of contents) await publish(own.name, content);
    const stream = await streams.open(transport, {
      topic: own.name,
      query: `?${query}&since_id=00000000-0000-0000-0000-000000000000`,
    });
    await stream.ready();
    for (const content of contents) await publish(own.name, content);
    // All filters but the last select one of these.
    await publish(own.name, { message: '9 nothing disk strasse backup', priority: 2, tags: ['db', 'prod', 'door'] });
    await publish(own.name, { message: '9 nothing disk', priority: 4, tags: ['db', 'prod', 'door'] });
    const texts = () => numbers(stream.ofType('message').map(({ data }) => data));
    await eventually(() => expect(texts()).toMatch(/9$/));
    expect(texts().replaceAll('9', '')).toBe(expected + expected);
  });
});

describe('a malformed filter', () => {
  const faults: [string, string][] = [
    ['priority_min=6', 'priority_min'],
    ['priority_max=low', 'priority_max'],
    ['priority_min=4&priority_max=3', 'priority_min'],
    [`tags=${Array.from({ length: 21 }, (_, n) => n).join(',')}`, 'tags'],
    [`q=${'x'.repeat(201)}`, 'q'],
  ];
  test.each(faults)('?%s is a 422 that names %s', async (query, field) => {
    const paths = [`/${topic.name}/json`, `/api/topics/${topic.name}/log`, `/${topic.name}/sse`];
    const answers = await Promise.all(paths.map((path) => get(`${path}?${query}`)));
    answers.push(await get(`/sse?topics=${topic.name}&${query}`));
    for (const { status, body } of answers)
      expect([status, body.detail]).toEqual([422, expect.stringMatching(`^${field}: `)]);
    const stream = await streams.ws(`/${topic.name}/ws?${query}`);
    expect([stream.status, stream.body.detail]).toEqual([422, expect.stringMatching(`^${field}: `)]);
  });
});

describe('the filtered log', () => {
  const end = () => published[4]!.offset + 1;

  test('continues after what it read, so that no record is read again', async () => {
    const first = await log('tags=db&limit=1');
    expect([ofLog(first), first.body.next_offset]).toEqual(['1', published[0]!.offset + 1]);
    const rest = await log(`tags=db&from_offset=${first.body.next_offset}`);
    expect([ofLog(rest), rest.body.next_offset]).toEqual(['2', end()]);
    const nothing = await log('q=nothing');
    expect(nothing.body).toMatchObject({ records: [], next_offset: end(), head: end(), gap: null });
  });

  test('says as lines where to continue if it left out the last records', async () => {
    expect((await lines('tags=db')).at(-1)).toEqual({ type: 'position', next_offset: end() });
    expect((await lines('priority_max=1')).at(-1)).toMatchObject({ type: 'message', offset: published[4]!.offset });
    expect((await lines('')).every(({ type }) => type === 'message')).toBe(true);
  });

  test('waits for a record that matches', async () => {
    const own = await createTopic(owner);
    const waiting = log('priority_min=5&wait=50', own.name);
    await publish(own.name, { message: '1', priority: 4 });
    await publish(own.name, { message: '2', priority: 5 });
    expect(ofLog(await waiting)).toBe('2');
  });

  test('has the edits and deletions of every message that may have matched', async () => {
    const own = await createTopic(owner);
    const edited = await publish(own.name, { message: '1 disk', priority: 4, tags: ['db'] });
    const deleted = await publish(own.name, { message: '2 disk', priority: 4, tags: ['db'] });
    const lower = await publish(own.name, { message: '3 disk', priority: 1, tags: ['db'] });
    const other = await publish(own.name, { message: '4 disk', priority: 4, tags: ['door'] });
    const both = await publish(own.name, { message: '5 disk', priority: 4, tags: ['db'] });
    for (const { id } of [edited, lower, other, both])
      expect((await owner.patch(`/api/${own.name}/messages/${id}`, { message: 'x' })).status).toBe(200);
    for (const { id } of [deleted, lower, both])
      expect((await owner.delete(`/api/${own.name}/messages/${id}`)).status).toBe(200);
    const { records } = (await log('q=disk&tags=db&priority_min=2', own.name)).body;
    expect(records.map(({ type, message }: { type: string; message: Published }) => [type, message.id])).toEqual([
      ['message_edited', edited.id],
      ['message_edited', both.id],
      ['message_deleted', deleted.id],
      ['message_deleted', both.id],
    ]);
  });
});

describe('filtered history', () => {
  test('names the `since` after everything that was read', async () => {
    const last = published[4]!.id;
    expect((await history('q=disk')).body.next_since).toBe(last);
    expect((await history('q=disk&since=all&limit=1')).body).toMatchObject({ count: 1, next_since: published[0]!.id });
    expect((await history(`q=disk&since=${published[3]!.id}`)).body).toMatchObject({ messages: [], next_since: last });
    expect((await history(`q=disk&since=${last}`)).body).toMatchObject({ messages: [], next_since: last });
    expect((await history('since=all')).body).not.toHaveProperty('next_since');
  });

  test.each(['', '&since=all'])('waits for a message that matches (%s)', async (since) => {
    const own = await createTopic(owner);
    await publish(own.name, { message: '1', priority: 4 });
    const waiting = history(`priority_min=5&wait=50${since}`, own.name);
    await publish(own.name, { message: '2', priority: 4 });
    const last = await publish(own.name, { message: '3', priority: 5 });
    const { messages, next_since } = (await waiting).body;
    expect([numbers(messages), next_since]).toEqual(['3', last.id]);
  });

  test("keeps the parameters of ntfy's clients without effect", async () => {
    const { body } = await history('since=all&poll=1&priority=5&prio=5&title=Storage&message=nothing');
    expect(numbers(body.messages)).toBe('12345');
  });
});

describe('a filtered stream that left out messages', () => {
  /** A stream that got its position, and the messages before it. */
  interface Told {
    readonly transport: Transport;
    readonly stream: ClientStream;
    readonly names: readonly string[];
    readonly passed: readonly Published[];
  }
  let ofTopic: Told[];
  let ofTopics: Told[];

  const position = ({ stream }: Told) => stream.ofType('position')[0]!;

  async function ofOneTopic(transport: Transport): Promise<Told> {
    const { name } = await createTopic(owner);
    const stream = await streams.open(transport, { topic: name, query: '?priority_min=5' });
    await stream.ready();
    const passed = [await publish(name, { message: '1' }), await publish(name, { message: '2' })];
    return { transport, stream, names: [name], passed };
  }

  async function ofTwoTopics(transport: Transport): Promise<Told> {
    const names = [(await createTopic(owner)).name, (await createTopic(owner)).name] as const;
    const stream = await streams.open(transport, { query: `?topics=${names.join(',')}&tags=x` });
    await stream.ready();
    const passed = [await publish(names[0], { message: '1' })];
    passed.push(await publish(names[1], { message: '2', tags: ['x'] }));
    await stream.texts(1);
    passed.push(await publish(names[1], { message: '3' }));
    return { transport, stream, names, passed };
  }

  // All streams wait for their positions together.
  beforeAll(async () => {
    ofTopic = await Promise.all(transports.map(ofOneTopic));
    ofTopics = await Promise.all(transports.map(ofTwoTopics));
    for (const told of [...ofTopic, ...ofTopics])
      await eventually(() => told.stream.ofType('position').length > 0, positionWithin);
  });

  test('tells its position, and resumes there', async () => {
    for (const told of ofTopic) {
      const [{ id, data }, last] = [position(told), told.passed[1]!];
      expect(data).toMatchObject({ id: last.id });
      if (told.transport === 'sse') expect(id).toBe(last.id);
      expect(told.stream.ofType('message')).toEqual([]);
      await publish(told.names[0]!, { message: '3' });
      const resumed = await streams.open(told.transport, { topic: told.names[0]!, query: `?since_id=${last.id}` });
      expect((await resumed.ready()).recovered).toBe(true);
      expect(await resumed.texts(1)).toEqual(['3']);
    }
  });

  test('of several topics tells the position of each, and resumes there', async () => {
    for (const told of ofTopics) {
      const [a, b] = told.names as [string, string];
      const { id } = position(told).data;
      expect(id).toBe(`${a}:${told.passed[0]!.id},${b}:${told.passed[2]!.id}`);
      await publish(a, { message: '4' });
      const resumed = await streams.open(told.transport, { query: `?topics=${a},${b}&since_id=${id}` });
      expect((await resumed.ready()).recovered).toBe(true);
      expect(await resumed.texts(1)).toEqual(['4']);
    }
  });

  test('of several topics includes what it left out in the ID of the next message', () => {
    const { stream, names, passed } = ofTopics.find(({ transport }) => transport === 'sse')!;
    expect(stream.ofType('message')[0]!.id).toBe(`${names[0]}:${passed[0]!.id},${names[1]}:${passed[1]!.id}`);
  });
});

describe.each(transports)('a filtered stream over %s', (transport) => {
  test('gets the edits and deletions of every message that may have matched', async () => {
    const own = await createTopic(owner);
    const message = await publish(own.name, { message: '1 disk', priority: 4, tags: ['db'] });
    const lower = await publish(own.name, { message: '2 disk', priority: 1, tags: ['db'] });
    const stream = await streams.open(transport, { topic: own.name, query: '?q=disk&tags=db&priority_min=2' });
    await stream.ready();
    for (const { id } of [lower, message]) {
      await owner.patch(`/api/${own.name}/messages/${id}`, { message: 'x' });
      await owner.delete(`/api/${own.name}/messages/${id}`);
    }
    await eventually(() => expect(stream.ofType('message_deleted')).toHaveLength(1));
    for (const type of ['message_edited', 'message_deleted'])
      expect(stream.ofType(type).map(({ data }) => data.id)).toEqual([message.id]);
  });
});
