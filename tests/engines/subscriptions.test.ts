import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { defaultMobileSettings } from '@tocsin/shared/domain/push/subscription.ts';
import { write } from '@tocsin/shared/ports/documents.ts';
import { subscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { createTopic } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';
import { useStore } from '../support/use-store.ts';

const stack = useStack();
const store = useStore();
const subscribe = ({ client }: Person, topic_name: string, over: object = {}, node = 0) =>
  client.call('POST', '/api/subscriptions', { json: { topic_name, ...over }, node });

test('an account has at most 1,000 subscriptions', async () => {
  const person = await stack.person();
  const topic = await createTopic(person);
  const others = Array.from({ length: 999 }, () =>
    write.insert(subscriptions, {
      id: randomUUID(),
      userId: person.id,
      topicId: randomUUID(),
      createdAt: Date.now(),
      lastViewedAt: null,
      lastNotifiedAt: null,
      isPinned: false,
      ...defaultMobileSettings,
      teamSubscriptionId: null,
      isTeamMade: null,
    }),
  );
  await store.documents().commit(others);
  const other = await createTopic(person);
  expect((await subscribe(person, topic.name)).status).toBe(201);
  expect(await subscribe(person, other.name)).toMatchObject({
    status: 403,
    body: { detail: 'Subscription limit reached' },
  });
});
