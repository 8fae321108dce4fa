import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { createTopic, newTopicName } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';
import { transports, useStreams, type ClientStream } from '../support/use-streams.ts';

const stack = useStack();
const streams = useStreams();

async function rename(owner: Person, { id }: { id: string }): Promise<string> {
  const name = newTopicName();
  expect((await owner.patch(`/api/topics/${id}`, { name })).status).toBe(200);
  return name;
}

async function publish(owner: Person, topic: string, text: string): Promise<string> {
  const { status, body } = await owner.publish(topic, text);
  expect(status).toBe(200);
  return body.id as string;
}

const lastMessage = async (stream: ClientStream, count: number) => {
  await stream.texts(count);
  return stream.ofType('message').at(-1)!;
};

test.each(transports)('open streams over %s continue under the new name, on every node', async (transport) => {
  const owner = await stack.person({ tier: 'TEAM' });
  const [topic, other] = [await createTopic(owner), await createTopic(owner)];
  const all = [
    await streams.open(transport, { topic: topic.name }),
    await streams.open(transport, { topic: topic.name }, { node: 1 }),
    await streams.open(transport, { query: `?topics=${topic.name},${other.name}` }),
    await streams.open(transport, { query: `?topics=${topic.name}` }, { node: 1 }),
  ];
  for (const stream of all) await stream.ready();
  for (let renamed = 1; renamed <= 3; renamed += 1) {
    const name = await rename(owner, topic);
    const id = await publish(owner, name, `as ${name}`);
    for (const stream of all)
      expect((await lastMessage(stream, renamed)).data).toMatchObject({ id, topic: name, message: `as ${name}` });
  }
});

test('positions of several topics use the new name instead of the old one', async () => {
  const owner = await stack.person();
  const [topic, other] = [await createTopic(owner), await createTopic(owner)];
  const stream = await streams.sse(`/sse?topics=${topic.name},${other.name}`);
  await stream.ready();
  const first = await publish(owner, topic.name, 'first');
  await stream.texts(1);
  const name = await rename(owner, topic);
  const second = await publish(owner, name, 'second');
  const nil = '00000000-0000-0000-0000-000000000000';
  expect((await lastMessage(stream, 2)).id).toBe(`${name}:${second},${other.name}:${nil}`);
  expect(stream.ofType('message')[0]!.id).toBe(`${topic.name}:${first},${other.name}:${nil}`);
});

test('reconnecting requires the new name: the old name is free or belongs to another topic', async () => {
  const owner = await stack.person();
  const topic = await createTopic(owner);
  const first = await publish(owner, topic.name, 'first');
  const name = await rename(owner, topic);
  await publish(owner, name, 'second');
  expect(
    await streams.sse(`/sse?topics=${topic.name}`, { headers: { 'Last-Event-ID': `${topic.name}:${first}` } }),
  ).toMatchObject({ status: 404 });
  const withOldPosition = await streams.sse(`/sse?topics=${name}`, {
    headers: { 'Last-Event-ID': `${topic.name}:${first}` },
  });
  expect((await withOldPosition.ready()).recovered).toBe(false);
  const withNew = await streams.sse(`/sse?topics=${name}`, { headers: { 'Last-Event-ID': `${name}:${first}` } });
  expect(await withNew.texts(1)).toEqual(['second']);
  expect((await withNew.ready()).recovered).toBe(true);
});

test('a session continues under the new name and accepts positions with all previous names', async () => {
  const owner = await stack.person({ tier: 'TEAM' });
  const topic = await createTopic(owner);
  const since_id = { [topic.name]: await publish(owner, topic.name, 'zero') };
  const session = (await owner.post('/api/sse/sessions', { topics: [topic.name], since_id })).body.session_id as string;
  const one = await publish(owner, topic.name, 'one');
  const names = [topic.name, await rename(owner, topic)];
  const stream = await streams.sse(`/sse?session=${session}`);
  expect(await stream.ready()).toMatchObject({ topics: [names[1]], recovered: true });
  expect(await lastMessage(stream, 1)).toMatchObject({ id: `${names[1]}:${one}`, data: { topic: names[1] } });
  stream.close();
  names.push(await rename(owner, topic));
  await publish(owner, names[2]!, 'two');
  for (const name of names) {
    // The server records the names of the first stream while it is open and at its end.
    await eventually(async () => {
      const back = await streams.sse(`/sse?session=${session}`, {
        headers: { 'Last-Event-ID': `${name}:${one}` },
        node: 1,
      });
      expect(await back.ready()).toMatchObject({ topics: [names[2]], recovered: true });
      expect(await back.texts(1)).toEqual(['two']);
    });
  }
});

test('topics that exchanged names are distinguished by the message in a position', async () => {
  const owner = await stack.person({ tier: 'TEAM' });
  const [a, b] = [await createTopic(owner), await createTopic(owner)];
  const session = (await owner.post('/api/sse/sessions', { topics: [a.name, b.name] })).body.session_id as string;
  const [inA, inB] = [await publish(owner, a.name, 'a1'), await publish(owner, b.name, 'b1')];
  await publish(owner, a.name, 'a2');
  const between = newTopicName();
  for (const [id, name] of [
    [a.id, between],
    [b.id, a.name],
    [a.id, b.name],
  ])
    expect((await owner.patch(`/api/topics/${id}`, { name })).status).toBe(200);
  const stream = await streams.sse(`/sse?session=${session}`, {
    headers: { 'Last-Event-ID': `${a.name}:${inA},${b.name}:${inB}` },
  });
  expect(await stream.ready()).toMatchObject({ recovered: true, topics: [b.name, a.name] });
  expect(await stream.texts(1)).toEqual(['a2']);
  expect(stream.ofType('message')[0]!.data.topic).toBe(b.name);
});
