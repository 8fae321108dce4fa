import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { openStream } from '../support/open-stream.ts';
import { createTopic, testStack } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();

test('connection_count is the number of open streams of the topic on all nodes', async () => {
  const owner = await stack.person();
  const [topic, other] = [await createTopic(owner), await createTopic(owner)];
  const nodes = testStack().urls.map((_, node) => node);
  const counts = async (name: string) =>
    Promise.all(
      nodes.map(
        async (node) => (await owner.client.call('GET', `/api/topics/${name}`, { node })).body.connection_count,
      ),
    );
  expect(await counts(topic.name)).toEqual(nodes.map(() => 0));
  const streams = await Promise.all([0, 1, 1].map((node) => openStream(`/${topic.name}/ws`, node)));
  // The node that opened a stream counts it immediately.
  expect(
    (await owner.client.call('GET', `/api/topics/${topic.name}`, { node: 0 })).body.connection_count,
  ).toBeGreaterThanOrEqual(1);
  await eventually(async () => expect(await counts(topic.name)).toEqual(nodes.map(() => 3)));
  expect(await counts(other.name)).toEqual(nodes.map(() => 0));
  for (const stream of streams.slice(1)) stream.close();
  await eventually(async () => expect(await counts(topic.name)).toEqual(nodes.map(() => 1)));
  streams[0]!.close();
  await eventually(async () => expect(await counts(topic.name)).toEqual(nodes.map(() => 0)));
});

test('a renamed topic keeps its streams and its subscribers', async () => {
  const owner = await stack.person();
  const topic = await createTopic(owner);
  const { id } = (await owner.post('/api/subscriptions', { topic_name: topic.name })).body;
  const stream = await openStream(`/${topic.name}/ws`);
  const name = `${topic.name}-renamed`;
  expect((await owner.patch(`/api/topics/${topic.id}`, { name })).status).toBe(200);
  expect((await owner.publish(name, 'after')).status).toBe(200);
  await eventually(() =>
    expect(stream.frames()).toContainEqual(expect.objectContaining({ type: 'message', topic: name, message: 'after' })),
  );
  expect((await owner.get('/api/subscriptions')).body.subscriptions).toMatchObject([
    { id, topic_name: name, unread_count: 1 },
  ]);
  await eventually(async () => expect((await owner.get(`/api/topics/${name}`)).body.connection_count).toBe(1));
  stream.close();
});
