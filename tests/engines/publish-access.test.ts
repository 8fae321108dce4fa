import { expect, test } from '@jest/globals';
import { teams } from '@tocsin/shared/collections/teams.ts';
import { createTopic } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';
import { useStore } from '../support/use-store.ts';

const stack = useStack();
const store = useStore();

test('topics of a deactivated team refuse publishes and can be read', async () => {
  const owner = await stack.person({ tier: 'TEAM' });
  const teamId = await stack.team(owner);
  const topic = await createTopic(owner, { team_id: teamId });
  const team = (await store.documents().get(teams, teamId))!;
  await store.documents().update(teams, team, { isActive: false, deactivatedAt: Date.now() });
  expect(await stack.caller().publish(topic.name)).toMatchObject({
    status: 403,
    body: { detail: 'Team is deactivated' },
  });
  expect((await stack.caller().get(`/${topic.name}/json`)).status).toBe(200);
});
