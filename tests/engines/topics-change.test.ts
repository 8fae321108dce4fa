import { expect, test } from '@jest/globals';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { createTopic } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';
import { useStore } from '../support/use-store.ts';

const stack = useStack();
const store = useStore();

test('refuses to delete a topic under legal hold', async () => {
  const owner = await stack.person();
  const topic = await createTopic(owner);
  const { version } = (await store.documents().get(topics, topic.id))!;
  await store.documents().update(topics, { id: topic.id, version }, { isHeld: true });
  expect(await owner.delete(`/api/topics/${topic.id}`)).toMatchObject({
    status: 409,
    body: { detail: 'Topic is under legal hold' },
  });
  expect((await owner.get(`/api/topics/${topic.name}`)).status).toBe(200);
});
