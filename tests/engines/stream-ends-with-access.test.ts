import { test } from '@jest/globals';
import { findMember, teamMembers } from '@tocsin/shared/collections/teams.ts';
import { createTopic } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';
import { useStore } from '../support/use-store.ts';
import { useStreams } from '../support/use-streams.ts';
import { watchStreams } from '../support/watch-streams.ts';

const stack = useStack();
const store = useStore();
const streams = useStreams();

/** Opens streams of every kind. */
const watch = (of: Parameters<typeof watchStreams>[1]) => watchStreams(streams, of);

async function teamTopic() {
  const [owner, member] = [await stack.person({ tier: 'TEAM' }), await stack.person()];
  const team = await stack.team(owner, [[member, 'member']]);
  const topic = await createTopic(owner, { team_id: team, access_level: 'private' });
  return { owner, member, team, topic };
}

test('streams end when access ends without a notification to the nodes', async () => {
  const { owner, member, team, topic } = await teamTopic();
  const open = await createTopic(owner);
  const reader = await watch({ topic: topic.name, otherTopics: [open.name], token: member.client.token });
  await reader.expectEnd(4403, async () => {
    const found = await findMember(store.documents(), team, member.id);
    await store.documents().remove(teamMembers, found!.id);
  });
});
