import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { createTopic, newTopicName } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';
import { transports, useStreams, type ClientStream } from '../support/use-streams.ts';

const stack = useStack();
const streams = useStreams();
const nil = '00000000-0000-0000-0000-000000000000';
const unknownId = '01900000-0000-7000-8000-000000000000';

interface Filled {
  readonly name: string;
  /** IDs of the messages `1`, `2`, `3`. */
  readonly ids: readonly string[];
}

/** Publishes and resolves with the message's ID. */
async function publish(owner: Person, topic: string, text: string): Promise<string> {
  const { status, body } = await owner.publish(topic, text);
  expect([status, body]).toEqual([200, expect.anything()]);
  return body.id as string;
}

async function filledTopic(owner: Person): Promise<Filled> {
  const { name } = await createTopic(owner);
  const ids: string[] = [];
  for (const text of ['1', '2', '3']) ids.push(await publish(owner, name, `${name} ${text}`));
  return { name, ids };
}

/** Publishes once more to each topic. Resolves with the earlier events as `<index of the topic> <text>`. */
async function received(owner: Person, topics: readonly Filled[], stream: ClientStream): Promise<string[]> {
  await stream.ready();
  const ends = topics.map(({ name }) => `${name} ${randomUUID()}`);
  for (const [at, { name }] of topics.entries()) await publish(owner, name, ends[at]!);
  const texts = () => stream.ofType('message').map(({ data }) => data.message as string);
  await eventually(() => expect(texts()).toEqual(expect.arrayContaining(ends)));
  const came = texts()
    .filter((text) => !ends.includes(text))
    .map((text) => text.split(' '));
  return came
    .filter(([, text]) => text!.length === 1)
    .map(([name, text]) => `${topics.findIndex((topic) => topic.name === name)} ${text}`);
}

test.each(transports)(
  'a stream of one topic over %s resumes after a message, from the beginning or from a time',
  async (transport) => {
    const owner = await stack.person({ tier: 'TEAM' });
    const topic = await filledTopic(owner);
    const resumed = async (query: string) => {
      const stream = await streams.open(transport, { topic: topic.name, query });
      return { recovered: (await stream.ready()).recovered, texts: await received(owner, [topic], stream) };
    };
    expect(await resumed(`?since_id=${topic.ids[0]}`)).toEqual({ recovered: true, texts: ['0 2', '0 3'] });
    expect(await resumed(`?since_id=${topic.ids[0]!.toUpperCase()}`)).toEqual({
      recovered: true,
      texts: ['0 2', '0 3'],
    });
    expect(await resumed(`?since_id=${nil}`)).toEqual({ recovered: true, texts: ['0 1', '0 2', '0 3'] });
    expect(await resumed(`?since_id=${unknownId}`)).toEqual({ recovered: false, texts: ['0 1', '0 2', '0 3'] });
    expect(await resumed('?since_id=')).toEqual({ recovered: undefined, texts: [] });
  },
);

test("the ID of another topic's message is unknown and resumes from the time in the ID", async () => {
  const owner = await stack.person({ tier: 'TEAM' });
  const other = await filledTopic(owner);
  const topic = await filledTopic(owner);
  const stream = await streams.sse(`/${topic.name}/sse?since_id=${other.ids[0]}`);
  expect((await stream.ready()).recovered).toBe(false);
  expect(await received(owner, [topic], stream)).toEqual(['0 1', '0 2', '0 3']);
});

test.each(transports)('a stream of several topics over %s resumes each topic where it stopped', async (transport) => {
  const owner = await stack.person({ tier: 'TEAM' });
  const [a, b, c] = [await filledTopic(owner), await filledTopic(owner), await filledTopic(owner)];
  const query = `?topics=${a.name},${b.name},${c.name}&since_id=${a.name.toUpperCase()}:${a.ids[1]},${b.name}:${nil}`;
  const stream = await streams.open(transport, { query }, { node: 1 });
  expect((await stream.ready()).recovered).toBe(true);
  expect((await received(owner, [a, b, c], stream)).sort()).toEqual(['0 3', '1 1', '1 2', '1 3']);
});

test('the event ID of each message contains all topics of the stream and resumes all of them', async () => {
  const owner = await stack.person({ tier: 'TEAM' });
  const [a, b] = [await filledTopic(owner), await filledTopic(owner)];
  const empty = await createTopic(owner);
  const first = await streams.sse(`/sse?topics=${a.name},${b.name},${empty.name}`);
  await first.ready();
  const inB = await publish(owner, b.name, 'in b');
  await first.texts(1);
  const inEmpty = await publish(owner, empty.name, 'in empty');
  await first.texts(2);
  expect(first.ofType('message').map(({ id }) => id)).toEqual([
    `${a.name}:${a.ids[2]},${b.name}:${inB},${empty.name}:${nil}`,
    `${a.name}:${a.ids[2]},${b.name}:${inB},${empty.name}:${inEmpty}`,
  ]);
  first.close();
  for (const { name } of [a, b, empty]) await publish(owner, name, `${name} missed`);
  const second = await streams.sse(`/sse?topics=${a.name},${b.name},${empty.name}`, {
    headers: { 'Last-Event-ID': first.ofType('message')[1]!.id! },
  });
  expect((await second.texts(3)).sort()).toEqual([a, b, empty].map(({ name }) => `${name} missed`).sort());
  expect((await second.ready()).recovered).toBe(true);
});

test('while several topics resume, every event ID resumes without gaps', async () => {
  const owner = await stack.person({ tier: 'TEAM' });
  const [a, b] = [await filledTopic(owner), await filledTopic(owner)];
  const path = `/sse?topics=${a.name},${b.name}`;
  const whole = await streams.sse(`${path}&since_id=${a.name}:${a.ids[0]},${b.name}:${nil}`);
  const texts = await whole.texts(5);
  for (const [at, { id }] of whole.ofType('message').entries()) {
    const rest = await streams.sse(path, { headers: { 'Last-Event-ID': id! } });
    await rest.ready();
    if (at < 4) expect(await rest.texts(4 - at)).toEqual(texts.slice(at + 1));
    rest.close();
  }
});

test('Last-Event-ID takes precedence over since_id for all topics', async () => {
  const owner = await stack.person({ tier: 'TEAM' });
  const [a, b] = [await filledTopic(owner), await filledTopic(owner)];
  const one = await streams.sse(`/${a.name}/sse?since_id=${nil}`, { headers: { 'Last-Event-ID': a.ids[1]! } });
  expect(await received(owner, [a], one)).toEqual(['0 3']);
  const several = await streams.sse(`/sse?topics=${a.name},${b.name}&since_id=${b.name}:${nil}`, {
    headers: { 'Last-Event-ID': `${a.name}:${a.ids[1]}` },
  });
  expect((await several.ready()).recovered).toBe(true);
  expect(await received(owner, [a, b], several)).toEqual(['0 3']);
});

test('ignores unknown topic names, and then reports possible loss', async () => {
  const owner = await stack.person({ tier: 'TEAM' });
  const [a, b] = [await filledTopic(owner), await filledTopic(owner)];
  for (const stranger of [b.name, newTopicName(), 'no name at all']) {
    const stream = await streams.sse(
      `/sse?topics=${a.name}&since_id=${a.name}:${a.ids[1]},${encodeURIComponent(stranger)}:${a.ids[0]}`,
    );
    expect((await stream.ready()).recovered).toBe(false);
    expect(await stream.texts(1)).toContain(`${a.name} 3`);
  }
  const strangerAlone = await streams.sse(`/sse?topics=${a.name}&since_id=${b.name}:${b.ids[0]}`);
  expect((await strangerAlone.ready()).recovered).toBe(false);
  expect(await received(owner, [a], strangerAlone)).toEqual([]);
});

test('an unknown position of one topic makes the stream not recovered', async () => {
  const owner = await stack.person({ tier: 'TEAM' });
  const [a, b] = [await filledTopic(owner), await filledTopic(owner)];
  const stream = await streams.sse(
    `/sse?topics=${a.name},${b.name}&since_id=${a.name}:${a.ids[2]},${b.name}:${unknownId}`,
  );
  expect((await stream.ready()).recovered).toBe(false);
  expect(await received(owner, [a, b], stream)).toEqual(['1 1', '1 2', '1 3']);
});

test('a malformed Last-Event-ID, which a browser cannot drop, starts live and is reported', async () => {
  const owner = await stack.person({ tier: 'TEAM' });
  const topic = await filledTopic(owner);
  for (const header of ['nonsense', randomUUID(), `${topic.name}:${topic.ids[0]},`]) {
    const one = await streams.sse(`/${topic.name}/sse?since_id=${nil}`, { headers: { 'Last-Event-ID': header } });
    expect((await one.ready()).recovered).toBe(false);
    expect(one.ofType('message')).toEqual([]);
  }
  for (const header of [
    'nonsense',
    topic.ids[0]!,
    `${topic.name}:${randomUUID()}`,
    `${topic.name}:${topic.ids[0]},${topic.name}:${topic.ids[1]}`,
  ]) {
    const several = await streams.sse(`/sse?topics=${topic.name}&since_id=${topic.name}:${nil}`, {
      headers: { 'Last-Event-ID': header },
    });
    expect((await several.ready()).recovered).toBe(false);
    expect(await received(owner, [topic], several)).not.toContain('0 1');
  }
});

test.each(transports)('refuses a malformed since_id over %s', async (transport) => {
  const { name } = await createTopic(await stack.person());
  const ofOne = { status: 422, body: { detail: 'since_id: must be the id of a message' } };
  for (const id of ['x', randomUUID(), `${name}:${nil}`])
    expect(await streams.open(transport, { topic: name, query: `?since_id=${id}` })).toMatchObject(ofOne);
  const ofSeveral = {
    status: 422,
    body: { detail: 'since_id: must be topic:id pairs, separated by commas, each with the id of a message' },
  };
  for (const ids of [
    'x',
    nil,
    `${name}:x`,
    `${name}:${randomUUID()}`,
    `${name}:${nil},`,
    `${name}:${nil},${name}:${nil}`,
    `:${nil}`,
  ]) {
    expect(await streams.open(transport, { query: `?topics=${name}&since_id=${ids}` })).toMatchObject(ofSeveral);
  }
  expect(await streams.open(transport, { topic: name, query: `?since_id=${nil}&since_id=${nil}` })).toMatchObject({
    status: 422,
    body: { detail: 'since_id: must be given once, as a string' },
  });
});
