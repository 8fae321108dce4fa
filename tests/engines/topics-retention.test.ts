import { expect, test } from '@jest/globals';
import { users } from '@tocsin/shared/collections/users.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { createTopic } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';
import { useStore } from '../support/use-store.ts';

const stack = useStack();
const store = useStore();
const dayMs = 86_400_000;

const daysOf = ({ expires_at: end, timestamp }: { expires_at: string; timestamp: string }): number =>
  (Date.parse(end) - Date.parse(timestamp)) / dayMs;

test('after a downgrade the tier at the time of the publish limits retention_days', async () => {
  const owner = await stack.person({ tier: 'TEAM', tierExpiresAt: Date.now() + dayMs });
  const topic = await createTopic(owner, { retention_days: 30 });
  expect(daysOf((await owner.publish(topic.name)).body)).toBe(30);
  const user = (await store.documents().get(users, owner.id))!;
  await store.documents().update(users, user, { tierExpiresAt: Date.now() - 1 });
  // Accounts are cached for some seconds.
  await eventually(async () => expect(daysOf((await owner.publish(topic.name)).body)).toBe(7), { intervalMs: 1_500 });
  expect(daysOf((await owner.get(`/${topic.name}/json?since=all&limit=1`)).body.messages[0])).toBe(30);
  expect((await owner.get(`/api/topics/${topic.name}`)).body.retention_days).toBe(30);
});
