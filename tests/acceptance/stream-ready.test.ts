import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { createTopic, testStack } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';
import { head, transports, useStreams } from '../support/use-streams.ts';
import { asReader } from '../support/as-reader.ts';

const stack = useStack();
const streams = useStreams();
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const nil = '00000000-0000-0000-0000-000000000000';

const sseHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
};

test.each(transports)('a stream of one topic over %s starts with ready and then sends publishes', async (transport) => {
  const owner = await stack.person();
  const { name } = await createTopic(owner);
  const stream = await streams.open(transport, { topic: name.toUpperCase() });
  expect(await stream.ready()).toEqual({
    topic: name,
    message: expect.any(String),
    connection_id: expect.stringMatching(uuid),
  });
  const { body } = await owner.publish(name, 'Grüße\n\n**fett** \u2028 ende');
  await stream.texts(1);
  expect(stream.events.slice(1)).toEqual([
    { type: 'message', data: asReader(body), ...(transport === 'sse' ? { id: body.id } : {}) },
  ]);
});

test.each(transports)(
  'a stream of several topics over %s lists them and sends the publishes of each',
  async (transport) => {
    const owner = await stack.person();
    const topics = [await createTopic(owner), await createTopic(owner)];
    const names = topics.map(({ name }) => name);
    const stream = await streams.open(transport, {
      query: `?topics=${names[0]!.toUpperCase()},${names[1]},${names[0]}`,
    });
    expect(await stream.ready()).toEqual({ topics: names, connection_id: expect.stringMatching(uuid) });
    expect(stream.events[0]!.type).toBe('ready');
    const published = [(await owner.publish(names[1]!)).body, (await owner.publish(names[0]!)).body];
    await eventually(() =>
      expect(stream.ofType('message').map(({ data }) => data)).toEqual(expect.arrayContaining(published.map(asReader))),
    );
  },
);

test('accepts topics in several parameters, with blanks and empty items', async () => {
  const owner = await stack.person();
  const names = [(await createTopic(owner)).name, (await createTopic(owner)).name];
  const stream = await streams.sse(`/sse?topics=,${names[0]}%20,&topics=%20${names[1]}`);
  expect((await stream.ready()).topics).toEqual(names);
});

test('each stream has its own connection ID', async () => {
  const { name } = await createTopic(await stack.person());
  const [one, two] = [await streams.sse(`/${name}/sse`), await streams.ws(`/${name}/ws`)];
  expect((await one.ready()).connection_id).not.toBe((await two.ready()).connection_id);
});

test('an event stream disables proxy buffering and sends a reconnection time', async () => {
  const { name } = await createTopic(await stack.person());
  for (const path of [`/${name}/sse`, `/sse?topics=${name}`]) {
    const stream = await streams.sse(path);
    expect(stream.headers).toMatchObject({ ...sseHeaders, 'x-request-id': expect.any(String) });
    await stream.ready();
    expect(stream.text()).toMatch(/^retry: \d+\n/);
  }
});

test('HEAD returns the headers of the stream without opening it', async () => {
  const owner = await stack.person();
  const { name } = await createTopic(owner);
  for (const path of [`/${name}/sse`, `/sse?topics=${name}`]) {
    expect(await head(testStack().urls[0]! + path)).toMatchObject({ status: 200, headers: sseHeaders });
    expect((await head(`${testStack().urls[0]!}${path}&since_id=x`.replace('/sse&', '/sse?'))).status).toBe(422);
  }
  expect((await owner.get(`/api/topics/${name}`)).body.connection_count).toBe(0);
});

test('ready contains the position, so that a client disconnected before its first message resumes correctly', async () => {
  const owner = await stack.person();
  const [quiet, busy] = [await createTopic(owner), await createTopic(owner)];
  await owner.publish(busy.name, 'before');
  const last = (await owner.publish(busy.name, 'last')).body;
  expect(await (await streams.sse(`/${quiet.name}/sse`)).readyId()).toBe(nil);
  expect(await (await streams.sse(`/${busy.name}/sse`)).readyId()).toBe(last.id);
  const id = await (await streams.sse(`/sse?topics=${quiet.name},${busy.name}`)).readyId();
  expect(id).toBe(`${quiet.name}:${nil},${busy.name}:${last.id}`);
  await owner.publish(quiet.name, 'missed');
  await owner.publish(busy.name, 'missed too');
  const back = await streams.sse(`/sse?topics=${quiet.name},${busy.name}`, { headers: { 'Last-Event-ID': id } });
  expect((await back.texts(2)).sort()).toEqual(['missed', 'missed too']);
  expect((await back.ready()).recovered).toBe(true);
  expect(back.events.map(({ type }) => type)).toEqual(['ready', 'message', 'message']);
});

test('does not send messages published before the stream opened', async () => {
  const owner = await stack.person();
  const { name } = await createTopic(owner);
  await owner.publish(name, 'before');
  for (const [index, transport] of transports.entries()) {
    const streamsOfBoth = [
      await streams.open(transport, { topic: name }),
      await streams.open(transport, { query: `?topics=${name}` }, { node: 1 }),
    ];
    for (const stream of streamsOfBoth) await stream.ready();
    await owner.publish(name, `after ${index}`);
    for (const stream of streamsOfBoth) expect(await stream.texts(1)).toEqual([`after ${index}`]);
  }
});

test('sends pings over both transports', async () => {
  const { name } = await createTopic(await stack.person());
  const all = [
    await streams.sse(`/${name}/sse`),
    await streams.sse(`/sse?topics=${name}`),
    await streams.ws(`/${name}/ws`),
    await streams.ws(`/ws?topics=${name}`, { node: 1 }),
  ];
  for (const stream of all) {
    await eventually(
      () => expect(stream.events.slice(1)).toEqual([{ type: 'ping', data: stream.text() === '' ? {} : '' }]),
      { timeoutMs: 40_000 },
    );
  }
  expect(all[0]!.text()).toContain('\n\nevent: ping\ndata:\n\n');
}, 120_000);

test('the topic shows the number of its open streams', async () => {
  const owner = await stack.person();
  const { name } = await createTopic(owner);
  const all = [await streams.sse(`/${name}/sse`), await streams.ws(`/ws?topics=${name}`, { node: 1 })];
  const count = async () => (await owner.get(`/api/topics/${name}`)).body.connection_count;
  await eventually(async () => expect(await count()).toBe(2));
  for (const stream of all) stream.close();
  await eventually(async () => expect(await count()).toBe(0));
});
