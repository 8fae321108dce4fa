import { expect, test } from '@jest/globals';
import { write } from '@tocsin/shared/ports/documents.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { newTopic } from '@tocsin/shared/testing/builders.ts';
import { useStack, type Person } from '../support/use-stack.ts';
import { useStore } from '../support/use-store.ts';

const stack = useStack();
const store = useStore();
const exportOf = (person: Person) => person.get('/api/users/me/data');
const idsOf = (items: readonly { id: string }[]) => items.map(({ id }) => id).sort();

test('pages leave nothing out and repeat nothing, also of topics that were made in the same millisecond', async () => {
  const owner = await stack.person();
  const createdAt = Date.now();
  const made = Array.from({ length: 650 }, (_, place) =>
    newTopic(owner.id, { createdAt: createdAt + (place < 450 ? 0 : place) }),
  );
  await store.documents().commit(made.map((topic) => write.insert(topics, topic)));
  const busy = made[449]!;
  for (let sent = 0; sent < 3; sent += 1) await stack.caller().publish(busy.name, `text ${sent}`);
  const { body } = await exportOf(owner);
  expect(body.topics).toHaveLength(650);
  expect(new Set(idsOf(body.topics))).toEqual(new Set(idsOf(made)));
  expect(body.statistics).toMatchObject({ total_topics: 650, total_messages: 3 });
});

test('the age of an account is in whole days', async () => {
  const owner = await stack.person();
  const user = (await store.documents().get(users, owner.id))!;
  await store.documents().update(users, user, { createdAt: Date.now() - 2.5 * 86_400_000 });
  expect((await exportOf(owner)).body.statistics.account_age_days).toBe(2);
});
