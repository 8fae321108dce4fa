import { expect, test } from '@jest/globals';
import type { Topic } from '../domain/topics/topic.ts';
import { unavailable } from '../domain/errors.ts';
import type { Documents } from '../ports/documents.ts';
import { newId, newTopic } from '../testing/builders.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { conditionalBuffer } from './conditional-buffer.ts';
import { topics } from '../collections/topics.ts';

const engine = await useTestEngine();

/** Adds to a topic's count. Flushes only on the test's request. */
function adder(documents: Documents, onLoss: (error: unknown) => void = () => undefined) {
  return conditionalBuffer<Topic, number>({
    documents,
    collection: topics,
    merge: (a, b) => a + b,
    everyMs: 3_600_000,
    onLoss,
    change: (topic, count) => (count === 0 ? null : { subscriberCount: topic.subscriberCount + count }),
  });
}
const addTopic = () => engine.documents.insert(topics, newTopic(newId()));
const countOf = async (id: string) => (await engine.documents.get(topics, id))!.subscriberCount;

test('merges updates of a document into one, and writes the rest on close', async () => {
  const [one, two] = [await addTopic(), await addTopic()];
  const updates = adder(engine.documents);
  for (let times = 0; times < 100; times++) updates.add(one.id, 1);
  updates.add(two.id, 0);
  updates.add(newId(), 5); // was removed
  await updates.flush();
  expect(await engine.documents.get(topics, one.id)).toMatchObject({ subscriberCount: 100, version: 2 });
  expect(await engine.documents.get(topics, two.id)).toMatchObject({ version: 1 });
  updates.add(one.id, 7);
  await updates.close();
  expect(await countOf(one.id)).toBe(107);
});

test('a read writes the pending updates of its results first, and no others', async () => {
  const [one, two] = [await addTopic(), await addTopic()];
  const updates = adder(engine.documents);
  for (const { id } of [one, two]) updates.add(id, 3);
  expect(await updates.readWithPending(() => engine.documents.getMany(topics, [one.id]))).toMatchObject([
    { subscriberCount: 3 },
  ]);
  expect([await countOf(one.id), await countOf(two.id)]).toEqual([3, 0]);
  await updates.close();
  expect([await countOf(one.id), await countOf(two.id)]).toEqual([3, 3]);
});

test.each(['ends before it', 'ends after it'])('a read during a flush that %s has its updates', async (end) => {
  const topic = await addTopic();
  const updates = adder(engine.documents);
  updates.add(topic.id, 3);
  let flushing: Promise<void> | undefined;
  const found = await updates.readWithPending(async () => {
    const before = await engine.documents.getMany(topics, [topic.id]);
    flushing ??= updates.flush();
    if (end === 'ends before it') await flushing;
    return before;
  });
  expect(found).toMatchObject([{ subscriberCount: 3 }]);
  await updates.close();
});

test("writers on several nodes do not lose each other's updates", async () => {
  const topic = await addTopic();
  const nodes = [adder(engine.documents), adder(engine.documents), adder(engine.documents)];
  for (let round = 0; round < 5; round++) {
    for (const node of nodes) node.add(topic.id, 1);
    await Promise.all(nodes.map((node) => node.flush()));
  }
  for (const node of nodes) await node.close();
  expect(await countOf(topic.id)).toBe(15);
});

test('keeps updates while the store is down, and reports other failures', async () => {
  const topic = await addTopic();
  let failure: Error | undefined = unavailable('Database');
  const failing: Documents = {
    ...engine.documents,
    getMany: (collection, ids) =>
      failure === undefined ? engine.documents.getMany(collection, ids) : Promise.reject(failure),
  };
  const lost: unknown[] = [];
  const updates = adder(failing, (error) => lost.push(error));
  updates.add(topic.id, 1);
  await updates.flush();
  updates.add(topic.id, 2);
  failure = undefined;
  await updates.flush();
  expect([await countOf(topic.id), lost]).toEqual([3, []]);
  failure = new Error('a bug');
  updates.add(topic.id, 4);
  await updates.close();
  expect([await countOf(topic.id), lost]).toEqual([3, [failure]]);
});
