import { expect, test } from '@jest/globals';
import { defaultMobileSettings } from '@tocsin/shared/domain/push/subscription.ts';
import { write } from '@tocsin/shared/ports/documents.ts';
import { teamSubscriptions, teamSubscriptionsMax } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { newId } from '@tocsin/shared/testing/builders.ts';
import { insertTeam } from '../support/arrange-by-store.ts';
import { createTopic } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';
import { useStore } from '../support/use-store.ts';

const stack = useStack();
const store = useStore();

test('a team sets at most 100 subscriptions', async () => {
  const owner = await stack.person({ tier: 'TEAM' });
  const teamId = await stack.team(owner);
  const topic = await createTopic(owner, { team_id: teamId });
  const { mobileEnabled, webEnabled, quietHours, ...settings } = defaultMobileSettings;
  await store.documents().commit(
    Array.from({ length: teamSubscriptionsMax - 1 }, () =>
      write.insert(teamSubscriptions, {
        id: newId(),
        teamId,
        topicId: topic.id,
        isForAll: false,
        isMandatory: false,
        settings,
        createdAt: Date.now(),
        endedAt: null,
        pendingSince: null,
        doneUpTo: null,
      }),
    ),
  );
  const make = () => owner.post(`/api/teams/${teamId}/subscriptions`, { topic_name: topic.name, members: 'all' });
  expect((await make()).status).toBe(201);
  expect(await make()).toMatchObject({ status: 403, body: { detail: 'Team subscription limit reached' } });
});

test('a deactivated team refuses new subscriptions and still lists its own', async () => {
  const owner = await stack.person({ tier: 'TEAM' });
  const teamId = await insertTeam(store.documents(), owner, { isActive: false });
  expect(await owner.post(`/api/teams/${teamId}/subscriptions`, { topic_name: 'any', members: 'all' })).toMatchObject({
    status: 403,
    body: { detail: 'Team is deactivated' },
  });
  expect(await owner.get(`/api/teams/${teamId}/subscriptions`)).toMatchObject({ status: 200, body: [] });
});
